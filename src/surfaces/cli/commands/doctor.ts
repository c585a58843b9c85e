import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { GatewayStats, ServerReport } from '../../../engine/gateway.ts';
import type { Settings } from '../../../engine/ports.ts';
import type { CommandModule } from '../command.ts';
import type { GlobalOptions, System } from '../system.ts';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to type or change. */
  readonly fix?: string;
}

const WANTED_NODE = 26;
const SYMBOLS = { ok: '✓', warn: '!', fail: '✗' } as const;

export const doctorCommand: CommandModule = (program, { system, terminal, fail }) => {
  program
    .command('doctor')
    .description('check the installation and say how to fix what is wrong')
    .addHelpText('after', '\nExample:\n  $ pml doctor --json')
    .action(async (options: GlobalOptions) => {
      const checks: Check[] = [];
      const show = (check: Check) => {
        checks.push(check);
        if (!options.json) terminal.out(line(check));
      };
      const { settings, check: config } = await checkConfig(system, options);
      show(checkRuntime());
      show(config);
      show(await checkHolder(system, options));
      show(await attempt('store', () => checkStore(system, options)));
      if (settings) {
        show(await attempt('embedding', () => checkEmbedding(system, settings)));
        for (const check of await checkServers(system, options)) show(check);
      }
      const healthy = checks.every((check) => check.status !== 'fail');
      if (options.json) terminal.out(`${JSON.stringify({ healthy, version: system.version, checks })}\n`);
      if (!healthy) fail();
    });
};

function checkRuntime(): Check {
  const { node, v8 } = process.versions;
  const message = `Node ${node} (V8 ${v8}) on ${process.platform}-${process.arch}`;
  if (Number.parseInt(node, 10) >= WANTED_NODE) return { name: 'runtime', status: 'ok', message };
  return {
    name: 'runtime',
    status: 'fail',
    message,
    fix: `Start PML with the "pml" command, which includes Node ${WANTED_NODE}.`,
  };
}

async function checkConfig(
  system: System,
  options: GlobalOptions,
): Promise<{ settings: Settings | null; check: Check }> {
  try {
    const settings = await system.loadSettings(options);
    if (settings.file === null) {
      const message = 'no configuration file: the defaults apply and no servers are attached';
      const fix = 'Import the servers of your clients with "pml init", or try "pml serve --demo".';
      return { settings, check: { name: 'config', status: 'warn', message, fix } };
    }
    const message = `${settings.file}: ${count(settings.servers.length, 'server')}`;
    return { settings, check: { name: 'config', status: 'ok', message } };
  } catch (error) {
    return { settings: null, check: toCheck('config', error) };
  }
}

async function checkHolder(system: System, options: GlobalOptions): Promise<Check> {
  return await attempt('lock', async () => {
    const holder = await system.holder(options);
    const dir = system.dataDir(options);
    if (!holder) return { name: 'lock', status: 'ok', message: `${dir} is free` };
    const where = holder.port === null ? 'still starting' : `port ${holder.port}`;
    const message = `${dir} is in use by "pml ${holder.role}" (pid ${holder.pid}, ${where}) since ${holder.since}`;
    return { name: 'lock', status: 'ok', message };
  });
}

async function checkStore(system: System, options: GlobalOptions): Promise<Check> {
  const { store, through, close } = await system.openStore(options, 'doctor');
  try {
    const [traces, tools, capabilities] = await Promise.all([
      store.traces.count(),
      store.tools.list(),
      store.capabilities.list(),
    ]);
    const contents = [
      count(tools.length, 'tool'),
      count(traces, 'trace'),
      count(capabilities.length, 'capability', 'capabilities'),
    ].join(', ');
    const holder = through();
    const message = holder ? `${contents} (through pid ${holder.pid})` : contents;
    return { name: 'store', status: 'ok', message };
  } finally {
    await close();
  }
}

/** One line in all when they are well, one more for each that is not. */
async function checkServers(system: System, options: GlobalOptions): Promise<Check[]> {
  const { gateway, close } = await system.openGateway(options, 'doctor');
  try {
    const [servers, stats] = await Promise.all([gateway.servers(), gateway.stats()]);
    const stalls = (await system.holder(options)) ? checkLoop(stats) : [];
    if (servers.length === 0) return stalls;
    const sick = servers.flatMap((server) => problemsOf(server));
    const running = servers.filter(({ state }) => state === 'ready').length;
    const spared = `about ${stats.sparedTokens.toLocaleString('en')} of ${stats.schemaTokens.toLocaleString('en')} schema tokens saved`;
    const message = `${count(servers.length, 'server')} (${running} running), ${count(stats.tools, 'tool')}, ${spared}`;
    return [{ name: 'servers', status: 'ok', message }, ...sick, ...stalls];
  } catch (error) {
    return [toCheck('servers', error)];
  } finally {
    await close();
  }
}

/** Of the gateway that holds the data; one that was opened for this look answers nobody else. */
function checkLoop({ loop }: GatewayStats): Check[] {
  if (loop.last === null) return [];
  const { at, ms, during } = loop.last;
  const message = `no answers for ${ms} ms until ${at}, after: ${during.join(', ') || 'unknown'} (${count(loop.stalls, 'stall')}, the longest ${loop.longestMs} ms)`;
  const fix = 'If the machine was not busy otherwise, report it with these details.';
  return [{ name: 'event loop', status: 'warn', message, fix }];
}

function problemsOf({ name, error, changedTools }: ServerReport): Check[] {
  const failed: Check[] = error
    ? [
        {
          name: 'servers',
          status: 'fail',
          message: `${name}: ${error.message}`,
          fix: error.hint ?? `See "pml servers logs ${name}".`,
        },
      ]
    : [];
  const changed: Check[] = changedTools.map((tool) => ({
    name: 'servers',
    status: 'warn',
    message: `${tool} has changed since you accepted it`,
    fix: 'Its calls need your approval and show what changed; accept the change with "pml servers accept".',
  }));
  return [...failed, ...changed];
}

async function checkEmbedding(system: System, settings: Settings): Promise<Check> {
  const embedder = await system.createEmbedder(settings);
  try {
    const [same, other] = await embedder.embed(['read a file', 'play a song']);
    const cosine = same && other ? same.reduce((sum, x, i) => sum + x * (other[i] ?? 0), 0) : Number.NaN;
    if (!(Math.abs(cosine) < 0.9)) {
      return {
        name: 'embedding',
        status: 'fail',
        message: `${embedder.model} does not distinguish two unrelated sentences (cosine ${cosine})`,
        fix: 'Reinstall PML, or choose another model under "pml.embedding".',
      };
    }
    return {
      name: 'embedding',
      status: 'ok',
      message: `${embedder.model}, ${embedder.dimension} dimensions`,
    };
  } finally {
    await embedder.close();
  }
}

async function attempt(name: string, work: () => Promise<Check>): Promise<Check> {
  try {
    return await work();
  } catch (error) {
    return toCheck(name, error);
  }
}

function toCheck(name: string, error: unknown): Check {
  const { message, hint } = PmlError.from(error);
  return { name, status: 'fail', message, ...(hint !== undefined && { fix: hint }) };
}

function line(check: Check): string {
  const fix = check.fix === undefined ? '' : `\n    → ${check.fix}`;
  return `${SYMBOLS[check.status]} ${check.name.padEnd(10)} ${check.message}${fix}\n`;
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
