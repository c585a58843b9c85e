/** Cost of a run in the sandbox, compared with the same code in a plain `vm` context; and of bombs for the host. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import vm from 'node:vm';
import { createSandbox } from '../src/adapters/sandbox/create-sandbox.ts';
import type { GuestHost, GuestProgram, Sandbox, SandboxOptions } from '../src/engine/ports.ts';
import { BOMBS } from '../test/hostile/cases/bombs.ts';
import { HOSTILE_OPTIONS, hostileHost, hostileProgram } from '../test/hostile/hostile-host.ts';
import { percentile } from './support/percentile.ts';

const ROUNDS = 300;
const CALLS = 1_000;
const CALL_ROUNDS = 7;
const CAPABILITY_CALLS = 100;
const BOMBS_AT_ONCE = 2;

const SMALL =
  'const list = args.list.map((x) => x * 2).filter((x) => x > 2); return { sum: list.reduce((a, b) => a + b, 0) };';
const CALLING = `for (let i = 0; i < ${CALLS}; i++) await mcp.a.b({ i }); return 1;`;
const ENTERING = `for (let i = 0; i < ${CAPABILITY_CALLS}; i++) await capabilities.c({ i }); return 1;`;

const OPTIONS: SandboxOptions = {
  limits: {
    memoryMb: 128,
    cpuMs: 10_000,
    wallMs: 120_000,
    callsInFlight: 16,
    callsTotal: 2 * CALLS,
    argumentBytes: 2 ** 20,
    resultBytes: 2 ** 22,
    consoleBytes: 2 ** 16,
  },
  seed: 'bench',
  startedAt: 0,
};

export async function bench() {
  const sandbox = createSandbox();
  try {
    await sandbox.run(program(SMALL), host(), OPTIONS);
    // Meanwhile the spare child gets ready.
    await sleep(1_000);
    return {
      name: 'sandbox',
      rows: [...(await running(sandbox)), ...(await calling(sandbox)), ...(await bombed(sandbox))],
    };
  } finally {
    await sandbox.close();
  }
}

async function running(sandbox: Sandbox) {
  const ours: number[] = [];
  const plain: number[] = [];
  // Interleaved, so that noise of the machine affects both.
  for (let round = -20; round < ROUNDS; round++) {
    const inSandbox = await time(() => sandbox.run(program(SMALL), host(), OPTIONS));
    const inVm = await time(() => runPlainly(program(SMALL), host()));
    if (round < 0) continue;
    ours.push(inSandbox);
    plain.push(inVm);
  }
  return [
    { label: 'a fresh run, children warm: p50', value: percentile(ours, 0.5), unit: 'ms', goal: '<= 3 ms' },
    { label: 'a fresh run, children warm: p90', value: percentile(ours, 0.9), unit: 'ms' },
    {
      label: 'the same in a fresh vm context: p50',
      value: percentile(plain, 0.5),
      unit: 'ms',
      ratio: percentile(plain, 0.5) / percentile(ours, 0.5),
    },
  ];
}

async function calling(sandbox: Sandbox) {
  const ours: number[] = [];
  const plain: number[] = [];
  const entering: number[] = [];
  for (let round = 0; round < CALL_ROUNDS; round++) {
    ours.push(await time(() => sandbox.run(program(CALLING), host(), OPTIONS)));
    plain.push(await time(() => runPlainly(program(CALLING), host())));
    entering.push(await time(() => sandbox.run(program(ENTERING), host(), OPTIONS)));
  }
  const perCall = (percentile(ours, 0.5) * 1_000) / CALLS;
  const perPlainCall = (percentile(plain, 0.5) * 1_000) / CALLS;
  return [
    {
      label: `one of ${CALLS} calls of a tool that does nothing`,
      value: perCall,
      unit: 'us',
      goal: '<= 150 us',
    },
    { label: 'the same in a vm context', value: perPlainCall, unit: 'us', ratio: perPlainCall / perCall },
    {
      label: `one of ${CAPABILITY_CALLS} calls of an empty capability`,
      value: (percentile(entering, 0.5) * 1_000) / CAPABILITY_CALLS,
      unit: 'us',
    },
  ];
}

/** How long one bomb after the other delayed the host's event loop. */
async function bombed(sandbox: Sandbox) {
  const delay = monitorEventLoopDelay({ resolution: 2 });
  delay.enable();
  const line = [...BOMBS];
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: BOMBS_AT_ONCE }, async () => {
      for (let bomb = line.shift(); bomb; bomb = line.shift()) {
        await sandbox.run(hostileProgram(bomb), hostileHost(bomb).host, HOSTILE_OPTIONS);
      }
    }),
  );
  delay.disable();
  const ms = (nanoseconds: number) => nanoseconds / 1e6;
  return [
    {
      label: `${BOMBS.length} bombs, ${BOMBS_AT_ONCE} at once`,
      value: (performance.now() - begin) / 1_000,
      unit: 's',
    },
    {
      label: '  lag of the host meanwhile: p99',
      value: ms(delay.percentile(99)),
      unit: 'ms',
      goal: '< 50 ms',
    },
    { label: '  lag of the host meanwhile: most', value: ms(delay.max), unit: 'ms' },
  ];
}

function program(code: string): GuestProgram {
  const script = `(async function (mcp, capabilities, args, deps, console, $pml) {"use strict";\n${code}\n})`;
  return { script, name: 'bench.ts', sites: [], args: { list: [1, 2, 3] }, deps: {} };
}

function host(): GuestHost {
  let frames = 0;
  return {
    callTool: async () => ({ ok: true, value: null, at: 0 }),
    enterCapability: async () => ({ ok: true, frame: ++frames, program: program('return args.i;'), at: 0 }),
    leaveCapability: () => {},
    mark: () => {},
  };
}

async function runPlainly(
  { script, name, args, deps }: GuestProgram,
  { callTool }: GuestHost,
): Promise<unknown> {
  const mcp = {
    a: { b: (given: unknown) => callTool(0, { server: 'a', tool: 'b', args: given }, () => () => {}) },
  };
  const main = vm.runInContext(script, vm.createContext({}), { filename: name }) as (
    ...all: unknown[]
  ) => unknown;
  return await main(mcp, {}, args, deps, {}, {});
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
