/**
 * `node killed-workflow.ts DIR NTH SEED`: takes up the run that the process before it was killed in, tells what it
 * found and asked, and has a person approve it; then begins run NTH and kills itself at a random point of it.
 * Without a SEED it only takes up.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { openPgliteStore } from '../../../src/adapters/store/open-pglite-store.ts';
import { createRandom } from '../../../src/core/numeric/random.ts';
import type { Store } from '../../../src/engine/ports.ts';
import { countedPlan, countingServer, countLines } from '../counted-workflow.ts';
import { openTestGateway } from '../open-test-gateway.ts';

// By itself Node keeps what it compiled at an orderly end only.
flushCompileCache();
const [dir = '', nth = '0', seed] = process.argv.slice(2);
const counted = join(dir, 'counted');
const tell = (fact: object) => appendFileSync(join(dir, 'told'), `${JSON.stringify(fact)}\n`);

/** Counted down from the moment the run begins; at the last one there is no more process. */
let pointsLeft = Number.POSITIVE_INFINITY;
const point = () => {
  pointsLeft--;
  if (pointsLeft <= 0) process.kill(process.pid, 'SIGKILL');
};

const store = await openPgliteStore(dir);
for (const id of await store.runs.abandoned()) tell({ found: id, tasks: (await store.runs.get(id))?.tasks });
const { gateway } = await openTestGateway({
  servers: [countingServer(counted, point)],
  store: withPoints(store),
});
await gateway.settled();

for (const { id, status } of await store.runs.list(1)) {
  if (status !== 'paused') continue;
  const pending = await store.approvals.list({ runId: id, state: 'pending' });
  const counts = countLines(readFileSync(counted, 'utf8'));
  for (const { arguments: args } of pending) {
    const { task } = args as { task: string };
    tell({ asked: id, task, ran: counts.get(`${id} ${task}`) ?? 0 });
  }
  await gateway.settleApproval(id, 'approved', 'ana');
  await gateway.continueRun(id, 'resume', { sessionId: null });
}

if (seed !== undefined) {
  pointsLeft = 1 + createRandom(Number(seed)).int(150);
  const runId = `run-${nth}`;
  await gateway.executeWorkflow(countedPlan(runId, Number(seed)), null, { sessionId: null }, runId);
  // The point lay beyond the end of the run.
  process.kill(process.pid, 'SIGKILL');
}
await gateway.close();
await store.close();

/** Every write of the run is a point before it and one after it. */
function withPoints(plain: Store): Store {
  const around = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      point();
      const result = await write(...args);
      point();
      return result;
    };
  };
  const { create, saveTasks, release } = plain.runs;
  const runs = {
    ...plain.runs,
    create: around(create),
    saveTasks: around(saveTasks),
    release: around(release),
  };
  return { ...plain, runs };
}
