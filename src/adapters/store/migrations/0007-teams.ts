import { type Kysely, sql } from 'kysely';

/**
 * Change notifications between gateways on one store: one row per change of anything they cache. Also the
 * graph's generation and a capability's revision, which let them update the same rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('graph_state')
    .addColumn('generation', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('workflow_pattern')
    .addColumn('revision', 'integer', (c) => c.notNull().defaultTo(1))
    .execute();
  await db.schema
    .createTable('store_change')
    .addColumn('seq', 'bigserial', (c) => c.primaryKey())
    .addColumn('topic', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    // The gateway's name, which is also that of its connections.
    .addColumn('origin', 'text', (c) => c.notNull())
    .execute();
  await createTellers(db);
  await tell(db, 'tool_schema', 'tools', 'tool_id', `insert or delete or update of ${TOOL_COLUMNS}`);
  await tell(db, 'tool_schema', 'outputs', 'tool_id', 'update of observed_output');
  await tell(db, 'tool_embedding', 'tools', 'tool_id', 'insert or update');
  await tell(db, 'workflow_pattern', 'capabilities', 'pattern_id', 'insert or update or delete');
  await tell(db, 'graph_state', 'graph', 'generation', 'update of generation');
  await tell(db, 'ranker_params', 'ranker', 'id', 'insert or delete');
  await tell(db, 'approval', 'approvals', 'id', 'insert or update of state');
  await sql`
    create trigger execution_trace_told after insert on execution_trace
    for each statement execute function tell_traces()`.execute(db);
}

/** All columns except observed_output. */
const TOOL_COLUMNS =
  'server_id, name, description, input_schema, output_schema, annotations, definition_hash, retired, proposed';

/**
 * Serializes numbering and commit, so that readers that follow the numbers miss none. Traces already have
 * numbers, so for them it only notifies that there are more. A gateway that is alone on its store writes no
 * notification.
 */
async function createTellers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function tell_change() returns trigger language plpgsql as $$
    declare
      changed record;
      key text;
    begin
      if current_setting('pml.alone', true) = 'on' then return null; end if;
      if tg_op = 'DELETE' then changed := old; else changed := new; end if;
      execute format('select ($1).%I::text', tg_argv[1]) into key using changed;
      perform pg_advisory_xact_lock('store_change'::regclass::oid::bigint);
      insert into store_change (topic, key, origin)
        values (tg_argv[0], key, current_setting('application_name'));
      perform pg_notify('pml_change', tg_argv[0] || ' ' || current_setting('application_name'));
      return null;
    end $$`.execute(db);
  await sql`
    create function tell_traces() returns trigger language plpgsql as $$
    begin
      perform pg_notify('pml_change', 'traces ' || current_setting('application_name'));
      return null;
    end $$`.execute(db);
}

/** At the very end of the transaction: a writer that waits for a number then blocks nobody who has one. */
async function tell(
  db: Kysely<unknown>,
  table: string,
  topic: string,
  key: string,
  when: string,
): Promise<void> {
  await sql`
    create constraint trigger ${sql.raw(`${table}_${topic}_told`)} after ${sql.raw(when)} on ${sql.table(table)}
    deferrable initially deferred
    for each row execute function tell_change(${sql.lit(topic)}, ${sql.lit(key)})`.execute(db);
}
