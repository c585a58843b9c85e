import { type CreateTableBuilder, type Kysely, sql } from 'kysely';

/** All tables, with the names from PML's original design. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createCatalogue(db);
  await createGraph(db);
  await createTraces(db);
  await createRuns(db);
}

async function createCatalogue(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('upstream_server')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('settings_hash', 'text', (c) => c.notNull())
    .addColumn('identity', 'json', (c) => c.notNull())
    .addColumn('refreshed_at', 'timestamptz', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('tool_schema')
    .addColumn('tool_id', 'text', (c) => c.primaryKey())
    .addColumn('server_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('input_schema', 'json', (c) => c.notNull())
    .addColumn('output_schema', 'json')
    .addColumn('annotations', 'json')
    .addColumn('definition_hash', 'text', (c) => c.notNull())
    .addColumn('retired', 'boolean', (c) => c.notNull().defaultTo(false))
    .addColumn('proposed', 'json')
    .execute();
  await db.schema.createIndex('tool_schema_server').on('tool_schema').column('server_id').execute();
  await db.schema
    .createTable('tool_embedding')
    .addColumn('tool_id', 'text', (c) => c.notNull().references('tool_schema.tool_id').onDelete('cascade'))
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('definition_hash', 'text', (c) => c.notNull())
    .addColumn('embedding', 'bytea', (c) => c.notNull())
    .addPrimaryKeyConstraint('tool_embedding_pk', ['tool_id', 'model'])
    .execute();
}

async function createGraph(db: Kysely<unknown>): Promise<void> {
  for (const table of ['tool_dependency', 'capability_dependency']) {
    await db.schema
      .createTable(table)
      .addColumn('from_node', 'text', (c) => c.notNull())
      .addColumn('to_node', 'text', (c) => c.notNull())
      .addColumn('edge_type', 'text', (c) => c.notNull())
      .addColumn('edge_source', 'text', (c) => c.notNull())
      .addColumn('observed_count', 'integer', (c) => c.notNull())
      .addColumn('invocation_count', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint(`${table}_pk`, ['from_node', 'to_node', 'edge_type'])
      .execute();
  }
  await db.schema
    .createTable('workflow_pattern')
    .addColumn('pattern_id', 'text', (c) => c.primaryKey())
    .addColumn('slug', 'text', (c) => c.notNull().unique())
    .addColumn('aliases', sql`text[]`, (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('code_hash', 'text', (c) => c.notNull().unique())
    .addColumn('code_snippet', 'text', (c) => c.notNull())
    .addColumn('parameters_schema', 'json', (c) => c.notNull())
    .addColumn('output_schema', 'json', (c) => c.notNull())
    .addColumn('dag_structure', 'json', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('usage_count', 'integer', (c) => c.notNull())
    .addColumn('success_count', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'timestamptz', (c) => c.notNull())
    .addColumn('updated_at', 'timestamptz', (c) => c.notNull())
    .execute();
}

async function createTraces(db: Kysely<unknown>): Promise<void> {
  await withSequence(db.schema.createTable('execution_trace'))
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('session_id', 'text')
    // No foreign key: a trace outlives the capability it ran.
    .addColumn('capability_id', 'text')
    .addColumn('intent_text', 'text')
    .addColumn('intent_embedding', 'bytea')
    .addColumn('embedding_model', 'text')
    .addColumn('executed_at', 'timestamptz', (c) => c.notNull())
    .addColumn('success', 'boolean', (c) => c.notNull())
    .addColumn('duration_ms', 'double precision', (c) => c.notNull())
    .addColumn('error_message', 'text')
    .addColumn('error_type', 'text')
    .addColumn('executed_path', sql`text[]`, (c) => c.notNull())
    .addColumn('tool_invocations', 'json', (c) => c.notNull())
    .addColumn('decisions', 'json', (c) => c.notNull())
    .addColumn('task_results', 'json', (c) => c.notNull())
    .addColumn('priority', 'double precision', (c) => c.notNull().defaultTo(0.5))
    .addColumn('events', 'json', (c) => c.notNull())
    .execute();
  for (const column of ['session_id', 'capability_id', 'run_id']) {
    await db.schema
      .createIndex(`execution_trace_${column}`)
      .on('execution_trace')
      .columns([column, 'seq'])
      .execute();
  }
  await withSequence(db.schema.createTable('episodic_events'))
    .addColumn('workflow_id', 'text', (c) => c.notNull())
    .addColumn('event_type', 'text', (c) => c.notNull())
    .addColumn('task_id', 'text')
    .addColumn('timestamp', 'timestamptz', (c) => c.notNull())
    .addColumn('data', 'json', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('episodic_events_workflow')
    .on('episodic_events')
    .columns(['workflow_id', 'seq'])
    .execute();
}

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await withSequence(db.schema.createTable('workflow_run'))
    .addColumn('session_id', 'text')
    .addColumn('intent_text', 'text')
    .addColumn('plan', 'json')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('tasks', 'json', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'timestamptz', (c) => c.notNull())
    .addColumn('updated_at', 'timestamptz', (c) => c.notNull())
    .execute();
  await withSequence(db.schema.createTable('approval'))
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('arguments_hash', 'text', (c) => c.notNull())
    .addColumn('arguments', 'json', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('requested_at', 'timestamptz', (c) => c.notNull())
    .addColumn('settled_at', 'timestamptz')
    .addColumn('settled_by', 'text')
    .execute();
  await db.schema.createIndex('approval_state').on('approval').columns(['state', 'seq']).execute();
  await withSequence(db.schema.createTable('ranker_params'))
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('params', 'bytea', (c) => c.notNull())
    .addColumn('metrics', 'json', (c) => c.notNull())
    .addColumn('created_at', 'timestamptz', (c) => c.notNull())
    .execute();
}

/** `id` names a row; `seq` is the insertion order, which clocks cannot provide. */
function withSequence(table: CreateTableBuilder<string, never>) {
  return table
    .addColumn('seq', 'bigserial', (c) => c.notNull().unique())
    .addColumn('id', 'text', (c) => c.primaryKey());
}
