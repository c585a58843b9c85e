import {
  type Compilable,
  type Kysely,
  type OperationNodeSource,
  type Selectable,
  sql,
  type Transaction,
} from 'kysely';
import type { Plan } from '../../../core/vocabulary/plan.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { RunLease, WorkflowRun, WorkflowRunStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, isVisible, json, text, textOrNull } from './codec.ts';

/** The database's clock, which keeps running during a transaction. */
const NOW = sql<Date>`clock_timestamp()`;

export function sqlRuns(db: Kysely<Database>): WorkflowRunStore {
  const read = async (id: string) => {
    const row = await db.selectFrom('workflow_run').selectAll().where('id', '=', text(id)).executeTakeFirst();
    return row ? (await withTasks(db, [row]))[0]! : null;
  };

  return {
    create: (run, lease) =>
      guarded(`Storing run ${run.id}`, async () => {
        const made = db.insertInto('workflow_run').values({ ...toRow(run), ...leaseColumns(lease) });
        await withPutTasks(db, made.returning('id'), run.tasks);
      }),

    update: (run) =>
      guarded(`Storing run ${run.id}`, () =>
        together(db, run.tasks, async (tx) => {
          const { numUpdatedRows } = await tx
            .updateTable('workflow_run')
            .set({ ...toRow(run), lease_owner: null, lease_until: null })
            .where('id', '=', run.id)
            .where('version', '=', run.version - 1)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) throw conflict(run.id);
          await putTasks(tx, run.id, run.tasks);
        }),
      ),

    get: (id) => guarded(`Reading run ${id}`, () => read(id)),

    list: (limit, visibleTo) =>
      guarded('Listing runs', async () => {
        let query = db.selectFrom('workflow_run').selectAll().orderBy('seq', 'desc').limit(limit);
        if (visibleTo !== undefined) query = query.where(isVisible(visibleTo));
        return await withTasks(db, await query.execute());
      }),

    claim: (id, lease) =>
      guarded(`Acquiring the lease of run ${id}`, async () => {
        const { numUpdatedRows } = await db
          .updateTable('workflow_run')
          .set((eb) => ({
            ...leaseColumns(lease),
            status: 'running',
            version: eb('version', '+', 1),
            updated_at: NOW,
          }))
          .where('id', '=', text(id))
          .where('status', 'in', ['running', 'paused'])
          .where((eb) => eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<', NOW)]))
          .executeTakeFirst();
        return numUpdatedRows === 0n ? null : await read(id);
      }),

    renew: (id, lease) =>
      guarded(`Renewing the lease of run ${id}`, async () => {
        const { numUpdatedRows } = await db
          .updateTable('workflow_run')
          .set(leaseColumns(lease))
          .where('id', '=', text(id))
          .where('lease_owner', '=', lease.owner)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),

    saveTasks: (id, owner, tasks) =>
      guarded(`Storing tasks of run ${id}`, async () => {
        if (Object.keys(tasks).length === 0) return;
        // The lock makes a process that takes the lease wait until this is committed, and vice versa.
        const held = db
          .selectFrom('workflow_run')
          .select('id')
          .where('id', '=', text(id))
          .where('lease_owner', '=', owner)
          .where('status', '=', 'running')
          .forShare();
        if (!(await withPutTasks(db, held, tasks))) throw conflict(id);
      }),

    release: (id, owner, status, tasks = {}) =>
      guarded(`Releasing the lease of run ${id}`, async () => {
        const released = db
          .updateTable('workflow_run')
          .set((eb) => ({
            status,
            lease_owner: null,
            lease_until: null,
            version: eb('version', '+', 1),
            updated_at: NOW,
          }))
          .where('id', '=', text(id))
          .where('lease_owner', '=', owner)
          .returning('id');
        return await withPutTasks(db, released, tasks);
      }),

    abandoned: () =>
      guarded('Listing runs without a lease', async () => {
        const rows = await db
          .selectFrom('workflow_run')
          .select('id')
          .where('status', '=', 'running')
          .where((eb) => eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<', NOW)]))
          .orderBy('seq')
          .execute();
        return rows.map(({ id }) => id);
      }),
  };
}

/** For a store that one process holds alone: earlier lease holders are gone. */
export async function voidLeases(db: Kysely<Database>): Promise<void> {
  await db
    .updateTable('workflow_run')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', 'is not', null)
    .execute();
}

function leaseColumns(lease: RunLease | undefined) {
  if (!lease) return { lease_owner: null, lease_until: null };
  return {
    lease_owner: lease.owner,
    lease_until: sql<Date>`clock_timestamp() + ${lease.ttlMs} * interval '1 millisecond'`,
  };
}

/** Uses a transaction only for more than one statement. */
async function together(
  db: Kysely<Database>,
  tasks: WorkflowRun['tasks'],
  work: (tx: Kysely<Database> | Transaction<Database>) => Promise<void>,
): Promise<void> {
  if (Object.keys(tasks).length === 0) await work(db);
  else await db.transaction().execute(work);
}

async function putTasks(db: Kysely<Database>, runId: string, tasks: WorkflowRun['tasks']): Promise<void> {
  const rows = Object.entries(tasks).map(([task, state]) => ({
    run_id: runId,
    task_id: text(task),
    state: json(state),
  }));
  if (rows.length === 0) return;
  await db
    .insertInto('workflow_task')
    .values(rows)
    .onConflict((oc) =>
      oc.columns(['run_id', 'task_id']).doUpdateSet((eb) => ({ state: eb.ref('excluded.state') })),
    )
    .execute();
}

/**
 * Adds or replaces tasks of the run that `run` selects, in the same statement: atomic, and one round trip.
 * False if it selects none.
 */
async function withPutTasks(
  db: Kysely<Database>,
  run: Compilable<{ id: string }> & OperationNodeSource,
  tasks: WorkflowRun['tasks'],
): Promise<boolean> {
  const rows = Object.entries(tasks).map(
    ([task, state]) => sql`(${text(task)}::text, ${JSON.stringify(state)}::json)`,
  );
  if (rows.length === 0) return (await db.executeQuery(run.compile())).rows.length > 0;
  const { numAffectedRows } = await sql`
    with held as (${run})
    insert into workflow_task (run_id, task_id, state)
    select held.id, given.task_id, given.state
    from held, (values ${sql.join(rows)}) as given (task_id, state)
    on conflict (run_id, task_id) do update set state = excluded.state`.execute(db);
  return numAffectedRows !== undefined && numAffectedRows > 0n;
}

async function withTasks(
  db: Kysely<Database>,
  rows: readonly Selectable<Database['workflow_run']>[],
): Promise<WorkflowRun[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const tasks = await db.selectFrom('workflow_task').selectAll().where('run_id', 'in', ids).execute();
  const byRun = Map.groupBy(tasks, ({ run_id }) => run_id);
  return rows.map((row) => {
    const states = (byRun.get(row.id) ?? []).map(({ task_id, state }) => [task_id, state]);
    return fromRow(row, Object.fromEntries(states));
  });
}

function conflict(id: string): PmlError {
  return new PmlError('store_conflict', `Run ${id} was changed by another process`, {
    hint: 'Read the run again and apply the change to its current state.',
  });
}

function toRow(run: WorkflowRun) {
  return {
    id: run.id,
    kind: run.kind,
    session_id: textOrNull(run.sessionId),
    origin: run.origin,
    intent_text: textOrNull(run.intentText),
    plan: json(run.plan),
    status: run.status,
    version: run.version,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    owner: textOrNull(run.owner),
    visibility: run.visibility,
    begun_with: json(run.begunWith),
  };
}

function fromRow(
  row: Selectable<Database['workflow_run']>,
  tasks: Readonly<Record<string, unknown>>,
): WorkflowRun {
  return {
    id: row.id,
    kind: row.kind as WorkflowRun['kind'],
    sessionId: row.session_id,
    origin: row.origin as WorkflowRun['origin'],
    intentText: row.intent_text,
    plan: row.plan as Plan | null,
    status: row.status as WorkflowRun['status'],
    tasks,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    owner: row.owner,
    visibility: row.visibility as WorkflowRun['visibility'],
    ...(row.begun_with !== null && { begunWith: row.begun_with as NonNullable<WorkflowRun['begunWith']> }),
  };
}

/** A paused run has several traces, and is kept as long as one of them is. */
export async function withoutTraces(tx: Transaction<Database>, runIds: readonly string[]): Promise<string[]> {
  if (runIds.length === 0) return [];
  const rows = await tx
    .selectFrom('execution_trace')
    .select('run_id')
    .distinct()
    .where('run_id', 'in', runIds)
    .execute();
  return [...new Set(runIds).difference(new Set(rows.map(({ run_id }) => run_id)))];
}

/** Everything stored for these runs except their traces and suggestions. */
export async function endRuns(tx: Transaction<Database>, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await tx.deleteFrom('episodic_events').where('workflow_id', 'in', runIds).execute();
  await tx.deleteFrom('approval').where('run_id', 'in', runIds).execute();
  await tx.deleteFrom('workflow_run').where('id', 'in', runIds).execute();
}

/** Deletes the suggestions too. */
export async function forgetRuns(tx: Transaction<Database>, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await endRuns(tx, runIds);
  await tx.deleteFrom('suggestion').where('run_id', 'in', runIds).execute();
}

/** Which of these runs are unfinished or wait for approval, in order of id. */
export async function unfinishedRuns(
  tx: Transaction<Database>,
  runIds: readonly string[],
): Promise<string[]> {
  if (runIds.length === 0) return [];
  const rows = await tx
    .selectFrom('workflow_run')
    .select('id')
    .where('id', 'in', runIds)
    .where('status', 'in', ['running', 'paused'])
    .union(
      tx
        .selectFrom('approval')
        .select('run_id as id')
        .where('run_id', 'in', runIds)
        .where('state', '=', 'pending'),
    )
    .execute();
  return rows.map(({ id }) => id).sort();
}
