import { type Kysely, sql } from 'kysely';

/**
 * Lookups that would otherwise scan every row: row counts, traces by tool, and suggestions from which a step
 * was removed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createTally(db);
  await createTraceUses(db);
  await keepTraceLookups(db);
  await keepSuggestionTally(db);
}

async function createTally(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('tally')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('count', 'bigint', (c) => c.notNull())
    .execute();
  await sql`
    insert into tally (name, count)
    select 'traces', count(*) from trace_key
    union all select 'suggestions', count(*) from suggestion
    union all select 'suggestions ' || each, (select count(*) from suggestion where verdict = each)
      from unnest(array['accepted', 'edited', 'rejected']) as each`.execute(db);
}

/**
 * One row for each tool and server in a trace's path. Names are 64 bits of their MD5, which halves the size;
 * readers check the path again. The key has the order in which lists are read.
 */
async function createTraceUses(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('trace_use')
    .addColumn('name', 'bigint', (c) => c.notNull())
    // The trace's `seq`, and its month.
    .addColumn('trace', 'bigint', (c) => c.notNull())
    .addColumn('executed_at', 'timestamptz', (c) => c.notNull())
    .addPrimaryKeyConstraint('trace_use_pkey', ['name', 'trace'])
    .execute();
  await sql`
    create function name_key(name text) returns bigint language sql immutable parallel safe
    return ('x' || left(md5(name), 16))::bit(64)::bigint`.execute(db);
  // A server's name ends in a colon, as in the ids of its tools.
  await sql`
    create function used_names(path text[]) returns setof bigint language sql immutable parallel safe
    begin atomic
      select distinct name_key(name) from unnest(path) as node,
        unnest(array[node, split_part(node, ':', 1) || ':']) as name;
    end`.execute(db);
  await sql`
    insert into trace_use (name, trace, executed_at)
    select name, seq, executed_at from execution_trace, used_names(executed_path) as name`.execute(db);
}

/** Per statement, not per row: a thousand traces stored together change the tally once. */
async function keepTraceLookups(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger execution_trace_key on execution_trace`.execute(db);
  await sql`drop function keep_trace_key()`.execute(db);
  await sql`
    create function keep_traces_added() returns trigger language plpgsql as $$
    begin
      insert into trace_key (id, seq, executed_at) select id, seq, executed_at from added;
      insert into trace_use (name, trace, executed_at)
        select name, seq, executed_at from added, used_names(executed_path) as name;
      update tally set count = count + (select count(*) from added) where name = 'traces';
      return null;
    end $$`.execute(db);
  // A plan is cached per session, perhaps from when the tables were small: nested loops over the keys are
  // always right.
  await sql`
    create function keep_traces_removed() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
    begin
      delete from trace_key using removed where trace_key.id = removed.id;
      delete from trace_use using (
        select name, seq from removed, used_names(executed_path) as name
      ) as gone where trace_use.name = gone.name and trace_use.trace = gone.seq;
      update tally set count = count - (select count(*) from removed) where name = 'traces';
      return null;
    end $$`.execute(db);
  await sql`
    create trigger execution_trace_added after insert on execution_trace referencing new table as added
    for each statement execute function keep_traces_added()`.execute(db);
  await sql`
    create trigger execution_trace_removed after delete on execution_trace referencing old table as removed
    for each statement execute function keep_traces_removed()`.execute(db);
}

async function keepSuggestionTally(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index suggestion_doubted on suggestion (seq)
    where json_array_length(outcome -> 'left') > 0`.execute(db);
  await db.schema.createIndex('suggestion_created').on('suggestion').column('created_at').execute();
  await sql`
    create function tally_suggestions() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        update tally set count = tally.count - gone.count from (
          select 'suggestions' as name, count(*) from removed
          union all select 'suggestions ' || verdict, count(*) from removed group by verdict
        ) as gone where tally.name = gone.name;
      end if;
      if tg_op <> 'DELETE' then
        update tally set count = tally.count + come.count from (
          select 'suggestions' as name, count(*) from added
          union all select 'suggestions ' || verdict, count(*) from added group by verdict
        ) as come where tally.name = come.name;
      end if;
      return null;
    end $$`.execute(db);
  const tables = {
    insert: 'new table as added',
    update: 'old table as removed new table as added',
    delete: 'old table as removed',
  };
  for (const [change, named] of Object.entries(tables)) {
    await sql`
      create trigger ${sql.raw(`suggestion_${change}_tallied`)} after ${sql.raw(change)} on suggestion
      referencing ${sql.raw(named)} for each statement execute function tally_suggestions()`.execute(db);
  }
}
