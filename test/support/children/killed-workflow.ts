/**
 * `node killed-workflow.ts DIR NTH SEED`: resumes the run in which the previous process was killed, reports what it
 * found and asked, and has a person approve it; then begins run NTH and kills itself at a random point of it.
 * Without a SEED it only resumes.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { openPgliteStore } from '../../../src/adapters/store/open-pglite-store.ts';
import { createRandom } from '../../../src/core/numeric/random.ts';
import type { Store } from '../../../src/engine/ports.ts';
import { countedPlan, countingServer, countLines } from '../counted-workflow.ts';
import { openTestGateway } from '../open-test-gateway.ts';

// Node itself only stores compiled code at a normal exit.
flushCompileCache();
const [dir = '', nth = '0', seed] = process.argv.slice(2);
const counted = join(dir, 'counted');
const tell = (fact: object) => appendFileSync(join(dir, 'told'), `${JSON.stringify(fact)}\n`);

/** Counted down from the start of the run; at 0 the process kills itself. */
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
  // The point was beyond the end of the run.
  process.kill(process.pid, 'SIGKILL');
}
await gateway.close();
await store.close();

/** There is one point before and one after every write of the run. */
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
