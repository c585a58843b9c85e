import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, test } from 'vitest';
import type { Database } from '../../src/adapters/store/database.ts';
import { MIGRATIONS } from '../../src/adapters/store/migrations/index.ts';
import { openPgliteStore, pgliteDialect, startPglite } from '../../src/adapters/store/open-pglite-store.ts';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const FIRST = '0001-initial';

test('[STORE-29] [ORIGIN-1] a database of an earlier schema is migrated with all its contents', async () => {
  const dir = await temporaryDir();
  const db = new Kysely<Database>({ dialect: pgliteDialect(await startPglite(join(dir, 'pg'))) });
  const provider = { getMigrations: async () => ({ [FIRST]: MIGRATIONS[FIRST]! }) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  expect(error).toBeUndefined();
  await fillFirstSchema(db);
  await db.destroy();

  const store = await openPgliteStore(dir);
  const trace = await store.traces.get('trace-1');
  expect(trace).toMatchObject({ intentText: 'old', executedPath: ['a:b'], code: null, guest: null });
  const capability = await store.capabilities.find('old_one');
  expect(capability?.template).toEqual({ source: 'return 1', slots: [] });
  expect((await store.tools.list()).map(({ id }) => id)).toEqual(['a:b']);
  expect(await store.tools.observedOutputs()).toEqual(new Map());
  await store.tools.observeOutputs(new Map([[toolId('a', 'b'), { type: 'string' }]]));
  expect((await store.tools.observedOutputs()).size).toBe(1);
  expect(await store.graph.read()).toEqual({ edges: [], statistics: [], cursor: 0 });
  const { traces } = await store.traces.scan(0, 9);
  expect(traces.map(({ id, origin }) => [id, origin])).toEqual([
    ['trace-1', 'agent'],
    ['trace-2', 'replay'],
  ]);
  const run = await store.runs.get('run-1');
  expect(run).toMatchObject({
    kind: 'call',
    status: 'paused',
    tasks: { call: { status: 'waiting', n: '\u0000' } },
  });
  expect(await store.runs.abandoned()).toEqual([]);
  await store.close();
});

async function fillFirstSchema(db: Kysely<Database>): Promise<void> {
  await sql`insert into workflow_run (id, plan, status, tasks, version, created_at, updated_at)
    values ('run-1', null, 'paused', '{"call": {"status": "waiting", "n": "\\u0000"}}', 1, now(), now())`.execute(
    db,
  );
  await sql`insert into tool_dependency values ('a:b', 'a:c', 'sequence', 'observed', 3, 4)`.execute(db);
  await sql`insert into tool_schema (tool_id, server_id, name, description, input_schema, definition_hash)
    values ('a:b', 'a', 'b', 'old', '{}', 'hash')`.execute(db);
  await sql`insert into execution_trace (id, run_id, session_id, intent_text, executed_at, success, duration_ms,
      executed_path, tool_invocations, decisions, task_results, events)
    values ('trace-1', 'run-1', 's', 'old', now(), true, 1, '{a:b}', '[]', '[]', '[]', '[]'),
      ('trace-2', 'run-2', 'replay', 'old', now(), true, 1, '{a:b}', '[]', '[]', '[]', '[]')`.execute(db);
  await sql`insert into workflow_pattern (pattern_id, slug, aliases, description, code_hash, code_snippet,
      parameters_schema, output_schema, dag_structure, state, usage_count, success_count, created_at, updated_at)
    values ('1', 'old_one', '{}', '', 'hash', 'return 1', '{}', '{}',
      '{"tools_used":[],"tool_invocations":[],"static_structure":null,"intent_text":""}', 'active', 1, 1, now(), now())`.execute(
    db,
  );
}
