import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import type { GuestMark, GuestOutcome } from '../../src/engine/ports.ts';
import type { Aftermath, HostileCase } from './hostile-case.ts';
import { hostileHost, hostileProgram } from './hostile-host.ts';

const DEFAULTS = {
  /** Milliseconds after which a bomb counts as gone off, and after which anything counts as hung. */
  bombDeadline: 300,
  deadline: 60_000,
  /** Megabytes: what the whole machine would otherwise be. */
  memoryMb: 256,
};

const BEGUN = 'begun';

/** The sandbox one gets from `node:vm` alone, in a process of its own so that it can hang and die there. */
export function attackPlainVm(attack: HostileCase): Promise<Aftermath> {
  return new Promise((resolve) => {
    const child = fork(fileURLToPath(import.meta.url), {
      execArgv: [`--max-old-space-size=${DEFAULTS.memoryMb}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const end = (aftermath: Aftermath) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      resolve(aftermath);
    };
    const hung = () => end({ outcome: null, calls: [], marks: [] });
    const deadline = attack.canary.kind === 'ended' ? DEFAULTS.bombDeadline : DEFAULTS.deadline;
    let timer: NodeJS.Timeout | undefined;
    child.on('message', (message: Aftermath | typeof BEGUN) => {
      // Only the attack itself is timed: a slow start is nothing it did.
      if (message === BEGUN) timer = setTimeout(hung, deadline);
      else end(message);
    });
    // Not at its exit: its last message may still be on its way then.
    child.on('close', hung);
    child.send(attack);
  });
}

/** The language's own way to run other people's code, used as one would who trusts it. */
async function runPlainly(attack: HostileCase): Promise<Aftermath> {
  const { host, after } = hostileHost(attack);
  const lines: { level: 'log'; text: string }[] = [];
  const scope = vm.createContext({});

  const start = (frame: number, { script, args, deps, name }: ReturnType<typeof hostileProgram>) => {
    const call = async (server: string, tool: string, given: object = {}) => {
      if (typeof given !== 'object') throw new TypeError(`${tool} takes an object`);
      const reply = await host.callTool(frame, { server, tool, args: given }, () => () => {});
      if (reply.ok) return reply.value;
      throw Object.assign(new Error(reply.error.message), reply.error, { tool: `${server}:${tool}` });
    };
    const members = (make: (name: string) => unknown) => {
      const known: Record<string, unknown> = {};
      const get = (_: object, key: string | symbol) => {
        if (typeof key !== 'string' || key === 'then') return undefined;
        known[key] ??= make(key);
        return known[key];
      };
      return new Proxy(known, { get });
    };
    const mcp = members((server) => members((tool) => (given?: object) => call(server, tool, given)));
    const capabilities = members((slug) => async (given: object = {}) => {
      const entry = await host.enterCapability(frame, slug, given);
      if (!entry.ok) throw Object.assign(new Error(entry.error.message), entry.error);
      return start(entry.frame, entry.program);
    });
    const console = {
      log: (...values: unknown[]) => lines.push({ level: 'log', text: values.map(shown).join(' ') }),
    };
    const hooks = {
      call: (
        _site: number,
        receiver: Record<string, (...all: unknown[]) => unknown>,
        key: string,
        given: [],
      ) => receiver[key]!(...given),
      test: (site: number, value: unknown) => {
        host.mark(frame, { kind: 'decision', site, taken: String(value), at: 0 } satisfies GuestMark);
        return value;
      },
    };
    const main = vm.runInContext(script, scope, { filename: name }) as (
      ...all: unknown[]
    ) => Promise<unknown>;
    return main(mcp, capabilities, args, deps, console, hooks);
  };

  const rest = { console: lines, truncated: false, cpuMs: 0 };
  let outcome: GuestOutcome;
  try {
    const value = await start(0, hostileProgram(attack));
    outcome = { ok: true, value: JSON.parse(JSON.stringify(value) ?? 'null') as unknown, ...rest };
  } catch (thrown) {
    const { name, message } = thrown as Error;
    outcome = { ok: false, error: { kind: 'thrown', name, message }, ...rest };
  }
  return after(outcome);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
}

if (process.send && import.meta.main) {
  process.on('unhandledRejection', () => {});
  process.once('message', (attack: HostileCase) => {
    process.send!(BEGUN, () => {
      void runPlainly(attack).then((aftermath) => process.send!(aftermath, () => process.exit()));
    });
  });
}
