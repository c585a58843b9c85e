/**
 * `node shared-workflows.ts URL FILE SEED RUNS LEASE_MS`: a gateway on a shared PostgreSQL that starts all these
 * runs, eight at a time, in its own order; then stays and resumes runs that others abandon, until its input ends.
 */
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { openPostgresStore } from '../../../src/adapters/store/open-postgres-store.ts';
import { createRandom } from '../../../src/core/numeric/random.ts';
import { countedPlan, countingServer } from '../counted-workflow.ts';
import { openTestGateway } from '../open-test-gateway.ts';
import { settingsFor } from '../settings-for.ts';

// Node itself only stores compiled code at a normal exit.
flushCompileCache();
const [url = '', file = '', seed = '1', runs = '1', leaseMs = '15000'] = process.argv.slice(2);
const store = await openPostgresStore(url);
const { gateway } = await openTestGateway({
  servers: [countingServer(file)],
  store,
  leaseMs: Number(leaseMs),
  settings: { store: { ...settingsFor([]).store, url } },
});
const random = createRandom(Number(seed));
const order = Array.from({ length: Number(runs) }, (_, i) => i)
  .map((n) => ({ n, key: random.int(1_000_000) }))
  .sort((a, b) => a.key - b.key);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const work = async () => {
  for (let next = order.pop(); next; next = order.pop()) {
    const runId = `run-${next.n}`;
    const { status } = await gateway.executeWorkflow(
      countedPlan(runId, next.n),
      null,
      { sessionId: null },
      runId,
    );
    process.stdout.write(`${runId} ${status}\n`);
  }
};
await Promise.all(Array.from({ length: 8 }, work));
process.stdout.write('done\n');
process.stdin.resume();
await once(process.stdin, 'end');
await gateway.close();
await store.close();
