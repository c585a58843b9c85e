import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import { suspicionText } from '../../../engine/catalogue/inventory.ts';
import type { Settings } from '../../../engine/ports.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import type { GlobalOptions, System } from '../system.ts';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** A command to run or a setting to change. */
  readonly fix?: string;
}

interface Options extends GlobalOptions {
  readonly tools?: boolean;
}

const WANTED_NODE = 26;
/** Answers of the new shape after which it is how the tool answers. */
const DRIFT_IS_NEW = 30;
const SYMBOLS = { ok: '✓', warn: '!', fail: '✗' } as const;

export const doctorCommand: CommandModule = (program, { system, terminal, fail }) => {
  program
    .command('doctor')
    .description('check the installation and explain how to fix problems')
    .option(
      '--tools',
      'list tools that a search for their own description does not find first, with the tool found instead',
    )
    .addHelpText('after', '\nExample:\n  $ pml doctor --json\n  $ pml doctor --tools')
    .action(async (options: Options) => {
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
        for (const check of await checkSandbox(system, settings)) show(check);
        for (const check of await checkServers(system, options)) show(check);
        if (options.tools) for (const check of await checkTools(system, options)) show(check);
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
  const { pml, through, close } = await system.openGateway(options, 'doctor');
  try {
    const { traces, tools, capabilities } = await pml.getStats();
    const contents = [
      count(tools, 'tool'),
      count(traces, 'trace'),
      count(capabilities, 'capability', 'capabilities'),
    ].join(', ');
    const holder = through();
    const message = holder ? `${contents} (through pid ${holder.pid})` : contents;
    return { name: 'store', status: 'ok', message };
  } finally {
    await close();
  }
}

/** Nothing where no server asks for it. */
async function checkSandbox(system: System, { servers }: Settings): Promise<Check[]> {
  const confined = servers.filter((server) => server.transport === 'stdio' && server.sandbox);
  if (confined.length === 0) return [];
  const problem = await system.sandboxProblem();
  const names = confined.map(({ name }) => name).join(', ');
  if (problem === null)
    return [{ name: 'sandbox', status: 'ok', message: `bubblewrap works; confined: ${names}` }];
  return [
    {
      name: 'sandbox',
      status: 'fail',
      message: `${problem}; not started: ${names}`,
      fix: 'Install it ("apt install bubblewrap") and allow user namespaces, or remove "sandbox" from these servers.',
    },
  ];
}

/** Starts every server and lists its tools: one line for all, and one more for each problem. */
async function checkServers(system: System, options: GlobalOptions): Promise<Check[]> {
  const { pml, through, close } = await system.openGateway(options, 'doctor');
  try {
    const before = (await pml.listServers()).servers.filter(({ state }) => state !== 'disabled');
    const tried = await Promise.all(
      before.map(async ({ name }) => [name, await tryServer(pml, name)] as const),
    );
    const failed = new Map(tried.flatMap(([name, check]) => (check ? [[name, check] as const] : [])));
    const [{ servers }, stats, { drift }] = await Promise.all([
      pml.listServers(),
      pml.getStats(),
      pml.listDrift(),
    ]);
    const stalls = through() ? checkLoop(stats) : [];
    if (servers.length === 0) return stalls;
    const sick = servers.flatMap((server) => problemsOf(server, failed.get(server.name)));
    const working = before.length - failed.size;
    const message = `${working} of ${count(servers.length, 'server')} ${working === 1 ? 'works' : 'work'}, ${count(stats.tools, 'tool')}`;
    const tokens: Check = { name: 'tokens', status: 'ok', message: tokensRead(stats) };
    return [
      { name: 'servers', status: 'ok', message },
      tokens,
      ...sick,
      ...drift.flatMap(drifted),
      ...stalls,
    ];
  } catch (error) {
    return [toCheck('servers', error)];
  } finally {
    await close();
  }
}

/** Null if it starts and lists its tools. */
async function tryServer(pml: OperationClient, name: string): Promise<Check | null> {
  try {
    await pml.getServerChanges({ name });
    return null;
  } catch (error) {
    const { message, hint } = PmlError.from(error);
    return failure(name, message, hint);
  }
}

function failure(name: string, message: string, hint = `See "pml servers logs ${name}".`): Check {
  return { name: 'servers', status: 'fail', message: `${name}: ${message}`, fix: hint };
}

/** What a model reads, beside what it would read without PML. */
function tokensRead(stats: Answer<'get_stats'>): string {
  const told = (now: number, direct: number) =>
    `${now.toLocaleString('en')} tokens instead of ${direct.toLocaleString('en')}`;
  const { exposed_tokens: exposed, schema_tokens: schemas, per_session: each } = stats;
  const before = `a model reads about ${told(exposed, schemas)} before it begins`;
  if (each === null) return `${before} (estimated)`;
  const { sessions, read_tokens: read, direct_tokens: direct } = each;
  return `${before}, and ${told(read, direct)} in each of ${count(sessions, 'session')} with its results (estimated)`;
}

/** Whether a search for each tool's own description finds that tool first. */
async function checkTools(system: System, options: GlobalOptions): Promise<Check[]> {
  const { pml, close } = await system.openGateway(options, 'doctor');
  try {
    const { tools, hidden } = await pml.listHiddenTools();
    const message = `${tools - hidden.length} of ${count(tools, 'tool')} are found by their own description`;
    return [{ name: 'tools', status: 'ok', message }, ...hidden.map(hiddenTool)];
  } catch (error) {
    return [toCheck('tools', error)];
  } finally {
    await close();
  }
}

function hiddenTool({ tool, winner }: Answer<'list_hidden_tools'>['hidden'][number]): Check {
  if (winner === null) return { name: 'tools', status: 'warn', message: `${tool} has no description` };
  return {
    name: 'tools',
    status: 'warn',
    message: `${tool}: a search for its description finds ${winner} first`,
    fix: 'Exclude the tool you do not need with "tools.exclude" of its server.',
  };
}

/** Only for a running gateway; one opened for this check serves nobody else. */
function checkLoop({ loop }: Answer<'get_stats'>): Check[] {
  if (loop.last === null) return [];
  const { at, ms, during } = loop.last;
  const message = `unresponsive for ${ms} ms until ${at}, after: ${during.join(', ') || 'unknown'} (${count(loop.stalls, 'stall')}, longest ${loop.longest_ms} ms)`;
  const fix = 'If the machine was otherwise idle, report this with these details.';
  return [{ name: 'event loop', status: 'warn', message, fix }];
}

function problemsOf(server: Answer<'list_servers'>['servers'][number], tried: Check | undefined): Check[] {
  const { name, error, changed_tools: changedTools } = server;
  const failed = tried ?? (error ? failure(name, error.message, error.hint) : null);
  const changed: Check[] = changedTools.map((tool) => ({
    name: 'servers',
    status: 'warn',
    message: `${tool} has changed since you accepted it`,
    fix: 'Its calls need your approval, which shows the change; accept it with "pml servers accept".',
  }));
  const strange: Check[] = server.suspicions.map((suspicion) => ({
    name: 'servers',
    status: 'warn',
    message: printable(`${suspicion.tool ?? name}: ${suspicionText(suspicion)}`),
    fix: 'Review it; if it looks malicious, remove the server or replace the text with "describe".',
  }));
  return [...(failed ? [failed] : []), ...changed, ...strange];
}

/** A change that is new, or that capabilities still wait for. */
function drifted({
  tool,
  of,
  answers,
  changes,
  capabilities,
}: Answer<'list_drift'>['drift'][number]): Check[] {
  const waiting = capabilities
    .filter(({ state }) => state === 'quarantined')
    .map(({ slug, retested }) => (retested === null ? slug : `${slug} (${retested})`));
  if (waiting.length === 0 && answers !== null && answers.since >= DRIFT_IS_NEW) return [];
  const words = changes.map((change) => change.words).join('; ');
  const message = `${of === 'answers' ? `${tool} answers differently` : `${tool} has a new definition`}: ${words}`;
  const fix =
    waiting.length === 0
      ? 'No capability is quarantined for it; check your own programs.'
      : `Quarantined: ${waiting.join(', ')}. Check each, then "pml capability quarantine NAME --lift".`;
  return [{ name: 'drift', status: 'warn', message, fix }];
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
