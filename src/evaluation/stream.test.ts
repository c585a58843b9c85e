import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../test/memory/embedder.ts';
import { createMemoryVectorIndex } from '../../test/memory/vector-index.ts';
import { openTestGateway } from '../../test/support/open-test-gateway.ts';
import { stdioServer } from '../../test/support/settings-for.ts';
import type { ToolId } from '../core/vocabulary/ids.ts';
import type { DataSet, Task } from './data-set.ts';
import { drawStream, measureStream } from './stream.ts';

const tool = (id: string, description: string) => ({
  ...{ id: id as ToolId, server: 'A b', name: id, description, inputSchema: { required: ['x'] } },
  definitionHash: id,
});
const task = (group: string, intent: string, tools: readonly string[], isParallel = false): Task => ({
  ...{ id: intent, intent, group, tools, alternatives: {}, isOrdered: true, edges: [], isParallel },
});
const DATA: DataSet = {
  name: 'office',
  split: 'dev',
  tools: [
    tool('find_user', 'Finds a user'),
    tool('open_ticket', 'Opens a ticket'),
    tool('book_room', 'Books a room'),
    tool('send_mail', 'Sends a mail'),
  ],
  train: [
    task('ticket', 'open a ticket for Ada', ['find_user', 'open_ticket']),
    task('ticket', 'Ada has a problem, file a ticket', ['find_user', 'open_ticket']),
    task('ticket', 'ticket for Ken please', ['find_user', 'open_ticket']),
    task('room', 'book a room for noon', ['book_room', 'send_mail']),
    task('once', 'mail the boss', ['send_mail']),
    task('side by side', 'all of it', ['book_room', 'send_mail'], true),
  ],
  test: [
    task('room', 'we need a room at two', ['book_room', 'send_mail']),
    task('side by side', 'everything', ['book_room', 'send_mail'], true),
  ],
  isRecorded: false,
};

test('[EVAL-19] jobs with several wordings recur, the same for a seed', () => {
  const stream = drawStream(DATA, 7, 60);
  expect(drawStream(DATA, 7, 60)).toEqual(stream);
  expect(drawStream(DATA, 8, 60)).not.toEqual(stream);
  const byGroup = Map.groupBy(stream, ({ group }) => group);
  expect([...byGroup.keys()].sort()).toEqual(['room', 'ticket']);
  for (const runs of byGroup.values()) {
    expect(runs[0]!.intent).not.toBe(runs[1]!.intent);
    expect(new Set(runs.map(({ intent }) => intent)).size).toBe(runs[0]!.group === 'room' ? 2 : 3);
  }
  // With two jobs, by Zipf's law, one comes twice as often as the other.
  const often = Math.max(...byGroup.values().map(({ length }) => length));
  expect(often).toBeGreaterThan(30);
  expect(() => drawStream({ ...DATA, train: [], test: [] }, 1)).toThrow(/no job that recurs/);
});

test('[EVAL-19] each run is requested before it is made, and only repeated jobs count', async () => {
  const embedder = createMemoryEmbedder();
  const runs = 12;
  const report = await measureStream(
    DATA,
    { seed: 3, pauseMs: null, runs },
    {
      embedder,
      emptyIndex: () => createMemoryVectorIndex(embedder.dimension),
      sleep: async () => {},
      openGateway: async (upstream, servers) => {
        const settings = { servers: servers.map((name) => stdioServer(name)) };
        return (await openTestGateway({ upstream, settings })).gateway;
      },
    },
  );
  expect(report).toMatchObject({ dataset: 'office', protocol: 'stream', n: runs, jobs: 2, pause_ms: null });
  const [early, late] = report.windows;
  expect([early!.from, early!.to, late!.from, late!.to]).toEqual([1, 10, 11, 12]);
  expect(early!.n + late!.n).toBe(runs - 2);
  for (const figure of [
    early!.mrr,
    early!.plan_f1,
    early!.copying_f1,
    early!.routine_f1,
    early!.hybrid_mrr,
  ]) {
    expect(figure).toBeGreaterThanOrEqual(0);
    expect(figure).toBeLessThanOrEqual(1);
  }
  // Every word was said before, so that nothing is left to guess.
  expect(late).toMatchObject({ plan_f1: 1, copying_f1: 1, arguments_right: null });
});
