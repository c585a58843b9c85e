/**
 * `node team-gateway.ts URL DIR FILE SEED`: a gateway on a shared PostgreSQL, with its trainer in a thread and its
 * queue in DIR, that works at random and prints the answers it gets, one JSON per line. Made to be killed.
 * Its input: `stop` ends the work, `graph` asks for its graph and its number of runs, `train` for a training; the
 * end of input ends the gateway.
 */
import { createHash, randomUUID } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { WorkerTrainer } from '../../../src/adapters/training/worker-trainer.ts';
import { openStore } from '../../../src/compose/open-gateway.ts';
import { createRandom } from '../../../src/core/numeric/random.ts';
import type { Task } from '../../../src/core/vocabulary/plan.ts';
import { PmlError } from '../../../src/core/vocabulary/pml-error.ts';
import { createMemoryEmbedder } from '../../memory/embedder.ts';
import { countedPlan, countingServer } from '../counted-workflow.ts';
import { openTestGateway } from '../open-test-gateway.ts';
import { settingsFor } from '../settings-for.ts';

// Node itself only stores compiled code at a normal exit.
flushCompileCache();
const [url = '', dir = '', file = '', seed = '1'] = process.argv.slice(2);
/** With a clock that all processes of this machine share. */
const tell = (fact: object) => process.stdout.write(`${JSON.stringify({ at: Date.now(), ...fact })}\n`);

const WORK = ['water the roses', 'send the invoice', 'tune the piano', 'sweep the yard'];
const random = createRandom(Number(seed));
const settings = settingsFor([]);
// Like any gateway, one that starts while PostgreSQL restarts waits for it.
const store = { ...settings.store, url, queueBytes: 64 * 2 ** 20, waitMs: 60_000 };
const opened = await openStore(dir, store);
opened.trainerLock.onChange((isHeld) => tell({ seat: isHeld }));
const { model: embedding, dimension } = createMemoryEmbedder();
const { gateway } = await openTestGateway({
  servers: [countingServer(file)],
  ...opened,
  trainer: new WorkerTrainer({ embedding, dimension, seed: 1 }),
  leaseMs: 2_000,
  settings: { store },
  settle: false,
});
gateway.events.follow(({ event }) => {
  if (event.type === 'ranker_trained') tell({ trained: event.runs });
});

/** Every step has an effect that must not happen twice. */
const steps = (runId: string) => {
  const plan = countedPlan(runId, random.int(1_000));
  const tasks = plan.tasks.slice(0, 6).map((task) => ({ ...task, tool: 'counted:step' }) as Task);
  return { ...plan, tasks };
};
const NOBODY = { sessionId: null };
/** Only some runs have an intent: otherwise trainings would run all the time. */
const intent = () => (random.int(4) === 0 ? { intent: wish() } : {});
const wish = () => `${WORK[random.int(WORK.length)]}, ${random.int(1_000)}`;

const KINDS: (() => Promise<{ trace?: string | null; run?: string; status: string }>)[] = [
  async () => {
    const args = { run: randomUUID(), task: 't0', inputs: [] };
    const done = await gateway.executeTool({ tool: 'counted:step', arguments: args, ...intent() }, NOBODY);
    return { trace: done.traceId, status: done.status };
  },
  async () => {
    const call = (n: number) =>
      `await mcp.counted.safe({ run: '${randomUUID()}', task: 't${n}', inputs: [] })`;
    const done = await gateway.executeCode({ code: `${call(0)}; return ${call(1)}`, ...intent() }, NOBODY);
    return { trace: done.traceId, status: done.status };
  },
  async () => {
    const run = randomUUID();
    const { status } = await gateway.executeWorkflow(steps(run), null, NOBODY, run);
    return { run, status };
  },
  async () => {
    await gateway.searchTools({ query: wish() });
    return { status: 'success' };
  },
];

let isWorking = true;
const work = async () => {
  while (isWorking) {
    try {
      tell(await KINDS[random.int(KINDS.length)]!());
    } catch (error) {
      tell({ refused: PmlError.from(error).code, why: String(error) });
    }
    await setTimeout(random.int(100));
  }
};
const working = Promise.all(Array.from({ length: 3 }, work));
tell({ ready: true });

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'stop') {
    isWorking = false;
    await working;
    tell({ stopped: true });
  }
  if (line === 'train') {
    const led = await gateway.learning.train().then(
      () => true,
      (error: unknown) => (PmlError.from(error).code === 'not_available' ? false : Promise.reject(error)),
    );
    tell({ led });
  }
  if (line === 'graph') {
    const { runs } = await gateway.learning.report();
    tell({ graph: await graphOf(), runs, waiting: opened.journal?.size ?? 0 });
  }
}
await gateway.close();
await opened.close();

async function graphOf(): Promise<string> {
  const { nodes, edges } = await gateway.graph.view();
  const facts = edges.map((edge) => [
    edge.source,
    edge.target,
    edge.edge_type,
    edge.observed_count,
    edge.invocation_count,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([nodes.map(({ id }) => id).sort(), facts.map((fact) => fact.join(' ')).sort()]))
    .digest('hex');
}
