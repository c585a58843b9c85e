import { type Kysely, sql } from 'kysely';

/**
 * Lists of runs begin with those that ran last, whenever they were stored: an import brings older ones. The uses of a name
 * are kept in that order, too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index on execution_trace (executed_at, seq)`.execute(db);
  await sql`alter table trace_use drop constraint trace_use_pkey`.execute(db);
  await sql`alter table trace_use add primary key (name, executed_at, trace)`.execute(db);
  await sql`
    create or replace function keep_traces_removed() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
    begin
      delete from trace_key using removed where trace_key.id = removed.id;
      delete from trace_use using (
        select name, executed_at, seq from removed, used_names(executed_path) as name
      ) as gone where trace_use.name = gone.name and trace_use.executed_at = gone.executed_at
        and trace_use.trace = gone.seq;
      update tally set count = count - (select count(*) from removed) where name = 'traces';
      return null;
    end $$`.execute(db);
}
