/**
 * Appends traces as fast as it can and prints each id once the store has acknowledged it:
 * `node append-traces.ts pglite DIR` or `… postgres URL`. Made to be killed.
 */
import { flushCompileCache } from 'node:module';
import { openPgliteStore } from '../../../src/adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../../../src/adapters/store/open-postgres-store.ts';
import { sampleTrace } from '../samples.ts';

// Node itself only stores compiled code at a normal exit.
flushCompileCache();
const [kind, where = ''] = process.argv.slice(2);
const store = await (kind === 'pglite' ? openPgliteStore(where) : openPostgresStore(where));
for (;;) {
  const trace = sampleTrace();
  await store.traces.append(trace);
  process.stdout.write(`${trace.id}\n`);
}
