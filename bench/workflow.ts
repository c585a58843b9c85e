/** Cost of running tasks as a workflow, with every start and end committed to the embedded store. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPgliteStore } from '../src/adapters/store/open-pglite-store.ts';
import type { Plan } from '../src/core/vocabulary/plan.ts';
import type { Gateway } from '../src/engine/gateway.ts';
import type { Store } from '../src/engine/ports.ts';
import { createMemoryStore } from '../test/memory/store.ts';
import { openTestGateway } from '../test/support/open-test-gateway.ts';
import { stdioServer } from '../test/support/settings-for.ts';

const ROUNDS = 15;
/** Rounds before measuring, so that the code of gateway and database is compiled. */
const WARM_UP = 15;
const WAITS = 20;
const WAIT_MS = 50;
const NO_OPS = 100;
/** Length of a chain of reads, each of which takes `WAIT_MS` and needs the result before it. */
const CHAIN = 5;
/** A program with this many independent reads in sequence. */
const READS = 10;
const PROGRAM = `${Array.from({ length: READS }, (_, i) => `const r${i} = await mcp.work.read({ of: ${i} });`).join('\n')}
return [${Array.from({ length: READS }, (_, i) => `r${i}.next`).join(', ')}];`;

const NOBODY = { sessionId: null };

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const store = await openPgliteStore(join(dir, 'data'));
  const durable = await gatewayOn(store);
  const forgetful = await gatewayOn(createMemoryStore());
  const waits = planOf(WAITS, 'work:wait', false);
  const wide = planOf(NO_OPS, 'work:nothing', false);
  const chain = planOf(NO_OPS, 'work:nothing', true);
  const readings = readingsOf(CHAIN);
  const eager = await gatewayOn(createMemoryStore(), CHAIN);

  const times = { ideal: [] as number[], waits: [] as number[], wide: [] as number[], chain: [] as number[] };
  const inMemory = { waits: [] as number[], wide: [] as number[], chain: [] as number[] };
  const reading = { inTurn: [] as number[], ahead: [] as number[] };
  const program = { asCode: [] as number[], asPlan: [] as number[] };
  // Interleaved, so that noise of the machine affects all.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const ideal = await time(() => Promise.all(Array.from({ length: WAITS }, () => sleep(WAIT_MS))));
    const rows = [
      [times.ideal, ideal],
      [times.waits, await time(() => run(durable, waits))],
      [times.wide, await time(() => run(durable, wide))],
      [times.chain, await time(() => run(durable, chain))],
      [inMemory.waits, await time(() => run(forgetful, waits))],
      [inMemory.wide, await time(() => run(forgetful, wide))],
      [inMemory.chain, await time(() => run(forgetful, chain))],
      [reading.inTurn, await time(() => run(forgetful, readings))],
      [reading.ahead, await time(() => run(eager, readings))],
      [program.asCode, await time(() => done(durable.executeCode({ code: PROGRAM }, NOBODY)))],
      [program.asPlan, await time(() => done(durable.executeAsPlan({ code: PROGRAM }, NOBODY)))],
    ] as const;
    if (round >= 0) for (const [list, took] of rows) list.push(took);
  }
  await durable.close();
  await forgetful.close();
  await eager.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });

  const perTask = (list: number[]) => median(list) / NO_OPS;
  return {
    name: 'workflow',
    rows: [
      { label: `${WAITS} timers of ${WAIT_MS} ms at once`, value: median(times.ideal), unit: 'ms' },
      {
        label: `${WAITS} independent tasks of ${WAIT_MS} ms, as a workflow`,
        value: median(times.waits),
        unit: 'ms',
        ratio: median(times.waits) / WAIT_MS,
        goal: '<= 1.15x',
      },
      { label: '  the same, nothing kept', value: median(inMemory.waits), unit: 'ms' },
      {
        label: `a task that does nothing, one of ${NO_OPS} side by side`,
        value: perTask(times.wide),
        unit: 'ms',
        goal: '<= 2 ms',
      },
      {
        label: `a task that does nothing, one of ${NO_OPS} in a chain`,
        value: perTask(times.chain),
        unit: 'ms',
        goal: '<= 2 ms',
      },
      { label: '  the same side by side, nothing kept', value: perTask(inMemory.wide), unit: 'ms' },
      { label: '  the same in a chain, nothing kept', value: perTask(inMemory.chain), unit: 'ms' },
      {
        label: `${CHAIN} readings of ${WAIT_MS} ms in a chain, in turn`,
        value: median(reading.inTurn),
        unit: 'ms',
      },
      {
        label: '  the same as last time, read ahead',
        value: median(reading.ahead),
        unit: 'ms',
        ratio: median(reading.inTurn) / median(reading.ahead),
      },
      {
        label: `a program of ${READS} independent readings of ${WAIT_MS} ms, as code`,
        value: median(program.asCode),
        unit: 'ms',
      },
      {
        label: '  the same program, as a plan',
        value: median(program.asPlan),
        unit: 'ms',
        ratio: median(program.asCode) / median(program.asPlan),
      },
    ],
  };
}

async function gatewayOn(store: Store, speculation = 0): Promise<Gateway> {
  const definition = { description: 'works', inputSchema: { type: 'object' } };
  const nothing = { content: [{ type: 'text' as const, text: 'ok' }] };
  const tools = [
    { definition: { ...definition, name: 'nothing' }, call: async () => nothing },
    {
      definition: { ...definition, name: 'wait' },
      async call() {
        await sleep(WAIT_MS);
        return nothing;
      },
    },
    {
      definition: { ...definition, name: 'read', annotations: { readOnlyHint: true } },
      async call({ of = 'start' }: { of?: unknown }) {
        await sleep(WAIT_MS);
        return { content: [{ type: 'text' as const, text: JSON.stringify({ next: `after ${of}` }) }] };
      },
    },
  ];
  const settings = {
    learning: { enabled: false },
    workflow: { speculation },
    servers: [stdioServer('work', { concurrency: WAITS })],
  };
  return (await openTestGateway({ servers: [{ name: 'work', tools }], store, settings })).gateway;
}

function planOf(count: number, tool: string, isChain: boolean): Plan {
  const tasks = Array.from({ length: count }, (_, i) => ({
    id: `t${i}`,
    tool,
    arguments: {},
    dependsOn: isChain && i > 0 ? [`t${i - 1}`] : [],
  }));
  return { tasks, inputs: [] };
}

function readingsOf(count: number): Plan {
  const tasks = Array.from({ length: count }, (_, i) => ({
    id: `t${i}`,
    tool: 'work:read',
    arguments: i === 0 ? {} : { of: `\${t${i - 1}.next}` },
    dependsOn: i === 0 ? [] : [`t${i - 1}`],
  }));
  return { tasks, inputs: [] };
}

async function run(gateway: Gateway, plan: Plan): Promise<void> {
  await done(gateway.executeWorkflow(plan, null, NOBODY));
}

async function done(running: Promise<{ readonly status: string }>): Promise<void> {
  const { status } = await running;
  if (status !== 'success') throw new Error(`The run ended as ${status}`);
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
