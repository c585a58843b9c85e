import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Store } from '../../src/engine/ports.ts';
import { sampleRun } from '../support/samples.ts';
import { conflict } from './store-conflict.ts';

const lease = (ttlMs = 60_000) => ({ owner: randomUUID(), ttlMs });

export function leaseRules(store: () => Store): void {
  test('[STORE-40] of many that want to drive a run one does, until it releases the run', async () => {
    const run = sampleRun({ status: 'paused', tasks: { a: { status: 'success' } } });
    await store().runs.create(run);
    const many = Array.from({ length: 8 }, () => lease());
    const claims = await Promise.all(many.map((one) => store().runs.claim(run.id, one)));
    const winners = many.filter((_, i) => claims[i] !== null);
    expect(winners).toHaveLength(1);
    expect(claims.find((claimed) => claimed !== null)).toMatchObject({
      id: run.id,
      status: 'running',
      version: 2,
      tasks: run.tasks,
    });
    const [winner] = winners;
    expect(await store().runs.renew(run.id, winner!)).toBe(true);
    expect(await store().runs.renew(run.id, lease())).toBe(false);
    expect(await store().runs.release(run.id, 'somebody', 'success')).toBe(false);
    expect(await store().runs.release(run.id, winner!.owner, 'paused')).toBe(true);
    expect(await store().runs.get(run.id)).toMatchObject({ status: 'paused', version: 3 });
    expect(await store().runs.claim(run.id, lease())).not.toBeNull();
    expect(await store().runs.claim('nobody', lease())).toBeNull();
  });

  test('[STORE-40] a lease that is not renewed is free again, and its holder has lost it', async () => {
    const run = sampleRun();
    const first = lease(1);
    await store().runs.create(run, first);
    await setTimeout(30);
    expect(await store().runs.abandoned()).toContain(run.id);
    const second = lease();
    expect(await store().runs.claim(run.id, second)).not.toBeNull();
    expect(await store().runs.renew(run.id, first)).toBe(false);
    await expect(store().runs.saveTasks(run.id, first.owner, { a: 1 })).rejects.toEqual(conflict);
    await store().runs.saveTasks(run.id, second.owner, { a: 2 });
    expect((await store().runs.get(run.id))?.tasks).toMatchObject({ a: 2 });
  });

  test('[STORE-41] tasks are written all or none, and only by the driver of the run', async () => {
    const run = sampleRun({ tasks: {} });
    const mine = lease();
    await store().runs.create(run, mine);
    await store().runs.saveTasks(run.id, mine.owner, {});
    await store().runs.saveTasks(run.id, mine.owner, {
      a: { status: 'running' },
      'b[0]': { nested: ['\u0000'] },
    });
    await store().runs.saveTasks(run.id, mine.owner, { a: { status: 'success', result: null } });
    const kept = { a: { status: 'success', result: null }, 'b[0]': { nested: ['\u0000'] } };
    expect((await store().runs.get(run.id))?.tasks).toEqual(kept);
    await expect(store().runs.saveTasks(run.id, 'somebody', { a: 1, c: 1 })).rejects.toEqual(conflict);
    expect((await store().runs.get(run.id))?.tasks).toEqual(kept);
  });

  test('[STORE-42] a change of a run takes it from its driver, and a finished run stays finished', async () => {
    const run = sampleRun({ tasks: { a: { status: 'success' } } });
    const mine = lease();
    await store().runs.create(run, mine);
    await store().runs.saveTasks(run.id, mine.owner, { b: { status: 'running' } });
    await store().runs.update({ ...run, status: 'aborted', version: 2, tasks: {} });
    await expect(store().runs.saveTasks(run.id, mine.owner, { b: 1 })).rejects.toEqual(conflict);
    expect(await store().runs.release(run.id, mine.owner, 'success')).toBe(false);
    expect(await store().runs.claim(run.id, lease())).toBeNull();
    expect(await store().runs.get(run.id)).toMatchObject({
      status: 'aborted',
      tasks: { a: { status: 'success' }, b: { status: 'running' } },
    });
    const claimedMeanwhile = sampleRun({ status: 'paused' });
    await store().runs.create(claimedMeanwhile);
    await store().runs.claim(claimedMeanwhile.id, lease());
    await expect(store().runs.update({ ...claimedMeanwhile, version: 2 })).rejects.toEqual(conflict);
  });

  test('[STORE-43] active runs without a driver are listed', async () => {
    const [free, driven, waiting, call] = [
      sampleRun(),
      sampleRun(),
      sampleRun({ status: 'paused' }),
      sampleRun({ kind: 'call' }),
    ];
    await store().runs.create(free);
    await store().runs.create(driven, lease());
    await store().runs.create(waiting);
    await store().runs.create(call);
    const ours = [free, driven, waiting, call].map(({ id }) => id);
    const listed = (await store().runs.abandoned()).filter((id) => ours.includes(id));
    expect(listed).toEqual([free.id, call.id]);
  });
}
