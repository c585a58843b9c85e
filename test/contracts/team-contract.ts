import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Change, ChangeFeed, Store, TrainerLock } from '../../src/engine/ports.ts';
import { sampleApproval, sampleCapability, sampleTool, sampleTrace } from '../support/samples.ts';

export interface Member {
  readonly store: Store;
  readonly changes: ChangeFeed;
  readonly trainerLock: TrainerLock;
  leave(): Promise<void>;
}

export interface Team {
  join(): Promise<Member>;
  dispose(): Promise<void>;
}

/** What gateways on one store can rely on; run on the twin in memory and on PostgreSQL alike. */
export function teamContract(name: string, open: () => Promise<Team>): void {
  describe(`team: ${name}`, () => {
    let team: Team;
    beforeAll(async () => {
      team = await open();
    });
    afterAll(() => team?.dispose());

    test('[TEAM-1] a gateway is notified of what others write, and not of its own writes', async () => {
      const [writer, reader] = [await team.join(), await team.join()];
      const [own, told] = [listen(writer.changes), listen(reader.changes)];
      const tool = sampleTool();
      const capability = sampleCapability();
      const approval = sampleApproval();
      const params = { id: 'p', model: 'm', bytes: new Uint8Array(1), metrics: {}, createdAt: new Date() };
      const vector = Float32Array.of(1);
      const embedding = { toolId: tool.id, model: 'm', definitionHash: tool.definitionHash, vector };

      const expected: Change[] = [];
      const writes = async (topic: Change['topic'], key: string, work: () => Promise<unknown>) => {
        await work();
        expected.push({ topic, key });
        await expect.poll(() => told).toContainEqual({ topic, key });
        told.length = 0;
      };
      await writes('tools', tool.id, () => writer.store.tools.put([tool]));
      await writes('tools', tool.id, () => writer.store.embeddings.put([embedding]));
      await writes('outputs', tool.id, () => writer.store.tools.observeOutputs(new Map([[tool.id, {}]])));
      await writes('capabilities', capability.id, () => writer.store.capabilities.put(capability));
      await writes('capabilities', capability.id, () => writer.store.capabilities.remove(capability.id));
      await writes('approvals', approval.id, () => writer.store.approvals.request(approval));
      await writes('approvals', approval.id, () =>
        writer.store.approvals.settle(approval.id, 'approved', 'ana', new Date()),
      );
      await writes('ranker', 'p', () => writer.store.rankerParams.save(params));
      await writes('ranker', 'p', () => writer.store.rankerParams.remove('p'));
      await writes('traces', '', () => writer.store.traces.append(sampleTrace()));
      await writer.store.graph.replaceAll({ edges: [], statistics: [], cursor: 0 });
      await expect.poll(() => told.map(({ topic }) => topic)).toContain('graph');
      expect(own).toEqual([]);
      await Promise.all([writer.leave(), reader.leave()]);
    });

    test('[TEAM-2] one of all gateways holds the trainerLock, and another gets it soon after the holder is gone', async () => {
      const members = await Promise.all([team.join(), team.join(), team.join()]);
      const holders = () => members.filter(({ trainerLock }) => trainerLock.isHeld());
      for (const { trainerLock } of members) trainerLock.seek();
      await expect.poll(() => holders().length).toBe(1);
      for (let left = 2; left > 0; left--) {
        const [holder] = holders();
        const heard: boolean[] = [];
        holder!.trainerLock.onChange((isHeld) => heard.push(isHeld));
        expect(await holder!.trainerLock.claim()).toBe(true);
        const other = members.find((member) => member !== holder)!;
        expect(await other.trainerLock.claim()).toBe(false);
        members.splice(members.indexOf(holder!), 1);
        await holder!.leave();
        expect([holder!.trainerLock.isHeld(), heard]).toEqual([false, [false]]);
        await expect.poll(() => holders().length).toBe(1);
      }
      await Promise.all(members.map((member) => member.leave()));
    });
  });
}

function listen(changes: ChangeFeed): Change[] {
  const heard: Change[] = [];
  changes.follow(async (batch) => void heard.push(...(batch ?? [])));
  return heard;
}
