import { type Kysely, sql } from 'kysely';

/** Observed data on edges, statistics of nodes, and the position up to which the graph has read traces. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await widenGraph(db);
  await storeTracesInLine(db);
  await db.schema.createIndex('approval_run').on('approval').columns(['run_id', 'seq']).execute();
}

async function widenGraph(db: Kysely<unknown>): Promise<void> {
  for (const table of ['tool_dependency', 'capability_dependency']) {
    // Old edges do not name their traces; all traces still exist, so the graph is learned again.
    await sql`delete from ${sql.table(table)}`.execute(db);
    await db.schema
      .alterTable(table)
      .addColumn('last_seen_at', 'double precision')
      .addColumn('value_paths', 'json', (c) => c.notNull())
      .execute();
  }
  await db.schema
    .createTable('node_statistics')
    .addColumn('node', 'text', (c) => c.primaryKey())
    .addColumn('runs', 'integer', (c) => c.notNull())
    .addColumn('calls', 'integer', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('repeats', 'integer', (c) => c.notNull())
    .addColumn('repeat_runs', 'integer', (c) => c.notNull())
    .addColumn('last_seen_at', 'double precision')
    .execute();
  await db.schema
    .createTable('graph_state')
    .addColumn('is_only_row', 'boolean', (c) => c.primaryKey().defaultTo(true).check(sql`is_only_row`))
    .addColumn('cursor', 'bigint', (c) => c.notNull())
    .execute();
  await sql`insert into graph_state (cursor) values (0)`.execute(db);
}

/**
 * Serializes numbering and commit: otherwise an earlier number could be committed later, and readers that
 * follow the numbers, such as the graph, would miss it.
 */
async function storeTracesInLine(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function store_in_line() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(tg_relid::bigint);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger execution_trace_in_line before insert on execution_trace
    for each statement execute function store_in_line()`.execute(db);
}
