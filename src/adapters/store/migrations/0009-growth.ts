import { type Kysely, sql } from 'kysely';

/**
 * Traces partitioned by month, so that old ones can be dropped cheaply, and what the graph learned from
 * dropped ones. A partitioned table can only enforce unique ids within a month: `trace_key` does so across
 * months, and gives the month.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('trace_key')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('executed_at', 'timestamptz', (c) => c.notNull())
    .execute();
  await createRollup(db);
  await partitionTraces(db);
}

async function createRollup(db: Kysely<unknown>): Promise<void> {
  await sql`create table rollup_edge (like tool_dependency including all)`.execute(db);
  await sql`create table rollup_statistics (like node_statistics including all)`.execute(db);
  await db.schema
    .createTable('rollup_state')
    .addColumn('is_only_row', 'boolean', (c) => c.primaryKey().defaultTo(true).check(sql`is_only_row`))
    .addColumn('traces', 'bigint', (c) => c.notNull())
    .execute();
  await sql`insert into rollup_state (traces) values (0)`.execute(db);
}

async function partitionTraces(db: Kysely<unknown>): Promise<void> {
  await sql`alter table execution_trace rename to execution_trace_whole`.execute(db);
  await sql`
    create table execution_trace (like execution_trace_whole including defaults)
    partition by range (executed_at)`.execute(db);
  await sql`alter sequence execution_trace_seq_seq owned by execution_trace.seq`.execute(db);
  await createMonths(db);
  await sql`
    select ensure_trace_month(month) from (
      select distinct date_trunc('month', executed_at, 'UTC') as month from execution_trace_whole
    ) as months`.execute(db);
  await sql`insert into execution_trace select * from execution_trace_whole`.execute(db);
  await sql`insert into trace_key select id, seq, executed_at from execution_trace_whole`.execute(db);
  await sql`drop table execution_trace_whole`.execute(db);
  for (const columns of ['seq', 'id', 'session_id, seq', 'capability_id, seq', 'run_id, seq']) {
    await sql`create index on execution_trace (${sql.raw(columns)})`.execute(db);
  }
  // Runs without an intent may far outnumber those with one, which every start reads.
  await sql`create index on execution_trace (seq) where intent_text is not null`.execute(db);
  await sql`create index on execution_trace using brin (executed_at)`.execute(db);
  await createTriggers(db);
}

/**
 * One table per month (UTC) from 2020 on, created with its first trace; `execution_trace_other` takes
 * everything else.
 */
async function createMonths(db: Kysely<unknown>): Promise<void> {
  await sql`create table execution_trace_other partition of execution_trace default`.execute(db);
  await sql`
    create function ensure_trace_month(at timestamptz) returns void language plpgsql as $$
    declare
      first timestamptz := date_trunc('month', at, 'UTC');
      last timestamptz := (first at time zone 'UTC' + interval '1 month') at time zone 'UTC';
      name text := 'execution_trace_' || to_char(first at time zone 'UTC', 'YYYY_MM');
    begin
      if first < '2020-01-01T00:00:00Z' or first >= '2100-01-01T00:00:00Z' or to_regclass(name) is not null then
        return;
      end if;
      perform pg_advisory_xact_lock('execution_trace_other'::regclass::oid::bigint);
      if to_regclass(name) is not null
        or exists (select from execution_trace_other where executed_at >= first and executed_at < last) then
        return;
      end if;
      execute format('create table %I partition of execution_trace for values from (%L) to (%L)', name, first, last);
    end $$`.execute(db);
  await sql`
    create function drop_trace_months(before timestamptz) returns void language plpgsql as $$
    declare
      name text;
      is_empty boolean;
    begin
      for name in
        select relname from pg_inherits join pg_class on oid = inhrelid
        where inhparent = 'execution_trace'::regclass and relname ~ '^execution_trace_\\d{4}_\\d{2}$'
          and relname < 'execution_trace_' || to_char(before at time zone 'UTC', 'YYYY_MM')
        order by relname
      loop
        execute format('lock table %I', name);
        execute format('select not exists (select from %I)', name) into is_empty;
        if is_empty then execute format('drop table %I', name); end if;
      end loop;
    end $$`.execute(db);
}

async function createTriggers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function keep_trace_key() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then insert into trace_key values (new.id, new.seq, new.executed_at);
      else delete from trace_key where id = old.id;
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger execution_trace_in_line before insert on execution_trace
    for each statement execute function store_in_line()`.execute(db);
  await sql`
    create trigger execution_trace_key after insert or delete on execution_trace
    for each row execute function keep_trace_key()`.execute(db);
  await sql`
    create trigger execution_trace_told after insert on execution_trace
    for each statement execute function tell_traces()`.execute(db);
}
