import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import type { Ownership } from '../../src/core/vocabulary/principal.ts';
import type { RunLease, WorkflowRun, WorkflowRunStore } from '../../src/engine/ports.ts';

export interface LeasedRun {
  readonly run: WorkflowRun;
  readonly owner: string | null;
  /** End of the lease, in milliseconds since 1970. */
  readonly until: number;
}

/** The part of the in-memory store for runs; the store itself deletes them with their traces. */
export function createMemoryRunStore(runs: Map<string, LeasedRun>): WorkflowRunStore {
  const heldBy = (lease: RunLease | undefined) => ({
    owner: lease?.owner ?? null,
    until: lease ? Date.now() + lease.ttlMs : 0,
  });
  const isFree = ({ owner, until }: LeasedRun) => owner === null || until < Date.now();
  const heldRun = (id: string, owner: string) => {
    const held = runs.get(id);
    return held?.owner === owner ? held : null;
  };

  return {
    async create(run, lease) {
      if (runs.has(run.id)) throw new PmlError('store_conflict', `Run ${run.id} is already stored`);
      runs.set(run.id, { run: structuredClone(run), ...heldBy(lease) });
    },
    async update(run) {
      const before = runs.get(run.id)?.run;
      if (before?.version !== run.version - 1) throw conflict(run.id);
      const tasks = { ...before.tasks, ...run.tasks };
      runs.set(run.id, { run: structuredClone({ ...run, tasks }), ...heldBy(undefined) });
    },
    get: async (id) => structuredClone(runs.get(id)?.run) ?? null,
    list: async (limit, visibleTo) =>
      [...runs.values()]
        .filter(({ run }) => isVisible(run, visibleTo))
        .reverse()
        .slice(0, limit)
        .map(({ run }) => structuredClone(run)),
    async claim(id, lease) {
      const held = runs.get(id);
      if (!held || !isFree(held) || !['running', 'paused'].includes(held.run.status)) return null;
      const { version } = held.run;
      const run = { ...held.run, status: 'running' as const, version: version + 1, updatedAt: new Date() };
      runs.set(id, { run, ...heldBy(lease) });
      return structuredClone(run);
    },
    async renew(id, lease) {
      const held = heldRun(id, lease.owner);
      if (held) runs.set(id, { ...held, ...heldBy(lease) });
      return held !== null;
    },
    async saveTasks(id, owner, tasks) {
      if (Object.keys(tasks).length === 0) return;
      const held = heldRun(id, owner);
      if (held?.run.status !== 'running') throw conflict(id);
      const kept = structuredClone(tasks);
      runs.set(id, { ...held, run: { ...held.run, tasks: { ...held.run.tasks, ...kept } } });
    },
    async release(id, owner, status, tasks = {}) {
      const held = heldRun(id, owner);
      if (!held) return false;
      const kept = { ...held.run.tasks, ...structuredClone(tasks) };
      const version = held.run.version + 1;
      const run = { ...held.run, status, tasks: kept, version, updatedAt: new Date() };
      runs.set(id, { run, ...heldBy(undefined) });
      return true;
    },
    abandoned: async () =>
      [...runs.values()]
        .filter((held) => held.run.status === 'running' && isFree(held))
        .map(({ run }) => run.id),
  };
}

/** Shared, or this user's own; everything if no user is given. */
export function isVisible({ owner, visibility }: Ownership, user: string | undefined): boolean {
  return user === undefined || visibility === 'shared' || owner === user;
}

function conflict(id: string): PmlError {
  return new PmlError('store_conflict', `Run ${id} was changed by another process`);
}
