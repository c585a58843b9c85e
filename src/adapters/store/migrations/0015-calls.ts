import { type Kysely, sql } from 'kysely';
/** Every call of a tool as a row, in the order in which lists are read; and what people think of a run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('execution_trace').addColumn('verdict', 'json').execute();
  await createCalls(db);
  await readEvents(db);
  await sql`
    insert into trace_call select executed_at, seq, call.*, owner, visibility
    from execution_trace, trace_calls(events) as call`.execute(db);
  await keepCalls(db);
}

async function createCalls(db: Kysely<unknown>): Promise<void> {
  // By bytes: a server's tools are the range from `name:` to `name;`.
  const bytewise = sql`text collate "C"`;
  await db.schema
    .createTable('trace_call')
    // The trace's, and its `seq`.
    .addColumn('executed_at', 'timestamptz', (c) => c.notNull())
    .addColumn('trace', 'bigint', (c) => c.notNull())
    // In order of start, from 1.
    .addColumn('place', 'integer', (c) => c.notNull())
    .addColumn('call_id', 'text', (c) => c.notNull())
    .addColumn('node', bytewise, (c) => c.notNull())
    // Milliseconds after the run began; how long it took, null if it did not end.
    .addColumn('began_ms', 'float4', (c) => c.notNull())
    .addColumn('duration_ms', 'float4')
    .addColumn('success', 'boolean', (c) => c.notNull())
    .addColumn('error_type', 'text')
    // The beginning of the message.
    .addColumn('error', 'text')
    // Bytes of JSON, null where it is not recorded.
    .addColumn('sent', 'integer')
    .addColumn('received', 'integer')
    .addColumn('owner', 'text')
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('trace_call_pkey', ['executed_at', 'trace', 'place'])
    .execute();
  await sql`create index trace_call_node on trace_call (node, executed_at, trace, place)`.execute(db);
  await sql`
    create index trace_call_failed on trace_call (executed_at, trace, place) where not success`.execute(db);
}

/**
 * A column of type json may hold escapes that no text of PostgreSQL can: NUL and half a character. Both are replaced by
 * others of the same length before anything reads them. Operations of programs do not count as calls.
 */
async function readEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function trace_calls(events json) returns table (
      place integer, call_id text, node text, began_ms float4, duration_ms float4, success boolean,
      error_type text, error text, sent integer, received integer
    ) language sql immutable parallel safe as $$
      with event as materialized (
        select e, nth, e ->> 'type' as type, e ->> 'trace_id' as id
        from json_array_elements(
          replace(replace(events::text, '\\u0000', '\\u2400'), '\\ud', '\\u0')::json
        ) with ordinality as listed (e, nth)
      ), started as (
        select distinct on (id) id, nth, e ->> 'node' as node, (e ->> 'ts')::float8 as ts,
          octet_length((e -> 'args')::text) as sent
        from event where type = 'tool_start' and e ->> 'node' not like 'code:%'
        order by id, nth
      ), ended as (
        select distinct on (id) id, (e ->> 'duration_ms')::float4 as duration_ms,
          (e ->> 'success')::boolean as success, e ->> 'error_type' as error_type,
          left(e ->> 'error', 200) as error, octet_length((e -> 'result')::text) as received
        from event where type = 'tool_end'
        order by id, nth desc
      )
      select (row_number() over (order by ts, nth))::integer, id, node, ts::float4, duration_ms,
        coalesce(success, false), error_type, error, sent, received
      from started left join ended using (id)
    $$`.execute(db);
}

async function keepCalls(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function keep_calls_added() returns trigger language plpgsql as $$
    begin
      insert into trace_call select executed_at, seq, call.*, owner, visibility
        from added, trace_calls(events) as call;
      return null;
    end $$`.execute(db);
  // As for the other lookups: a cached plan may be from when the tables were small.
  await sql`
    create function keep_calls_removed() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
    begin
      delete from trace_call using removed
        where trace_call.executed_at = removed.executed_at and trace_call.trace = removed.seq;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger execution_trace_calls_added after insert on execution_trace
    referencing new table as added for each statement execute function keep_calls_added()`.execute(db);
  await sql`
    create trigger execution_trace_calls_removed after delete on execution_trace
    referencing old table as removed for each statement execute function keep_calls_removed()`.execute(db);
}
