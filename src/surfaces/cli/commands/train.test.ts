import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { sampleInsight, sampleLearningReport } from '../../../../test/support/learning-report.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { LearningReport, LearningService } from '../../../engine/learning/learning-service.ts';

const UNTRAINED = sampleLearningReport({ model: null, history: [], losses: [] });

/** One whose training gives this report. */
function shelved(after: LearningReport, over: Partial<LearningService> = {}) {
  const learning: LearningService = {
    report: async () => UNTRAINED,
    insight: async () => sampleInsight(),
    train: async () => after,
    judge: async () => null,
    stop: async () => {},
    rollBack: async () => after,
    ...over,
  };
  return { openGateway: async () => openedGateway(handMadeGateway({ learning })) };
}

test('[LEARN-12] training prints runs, time, loss and the state of the gate', async () => {
  const { code, out, err } = await runCommand(['train'], shelved(sampleLearningReport()));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'Trained on 1,200 runs in 3.5 s.\n',
      'Loss 2.500 -> 0.250 in 3 steps.\n',
      'The gate is open: the trained ranker is in use, nDCG@10 +0.125 (95 % interval +0.050 to +0.200) on the 40 newest runs; +0.000 on 60 unseen questions.\n',
    ].join(''),
  );
  const gate = {
    open: false,
    gain: -0.01,
    ci95: [-0.03, 0.01],
    n: 12,
    far: { gain: 0, ci95: [0, 0], n: 0 },
    since: null,
  } as const;
  const closed = await runCommand(['train'], shelved(sampleLearningReport({ gate })));
  expect(closed.out).toContain('The gate is closed: the trained ranker has not been shown');
  expect(closed.out).toContain(
    '-0.010 (95 % interval -0.030 to +0.010) on the 12 newest runs. Search ranks by text alone.',
  );
  const json = JSON.parse((await runCommand(['train', '--json'], shelved(sampleLearningReport()))).out);
  expect(json).toMatchObject({ runs: 1_250, gate: { open: true }, history: [{ runs: 1_200 }] });
});

test('[LEARN-20] with too few runs it says so, and nothing is trained', async () => {
  const few = sampleLearningReport({ runs: 1, model: null, history: [] });
  const system = shelved(few, {
    report: async () => few,
    train: () => Promise.reject(new Error('not asked for')),
  });
  const { code, out } = await runCommand(['train'], system);
  expect(code).toBe(0);
  expect(out).toMatch(/^1 run with an intent so far\. Training needs at least 10/);
  const unknown = await runCommand(['train'], shelved({ ...UNTRAINED, runs: 12 }));
  expect(unknown.out).toMatch(/^Fewer than 10 of the 12 runs used tools that still exist/);
});

test('[LEARN-12] a waiting user sees a progress bar, and stopping changes nothing', async () => {
  const training = { stage: 'training', done: 30, total: 60, loss: 1.5 } as const;
  let fail: (error: Error) => void = () => {};
  const ended = new Promise<LearningReport>((_, reject) => {
    fail = reject;
  });
  let asked = 0;
  const system = shelved(UNTRAINED, {
    train: () => ended,
    report: async () => (asked++ === 0 ? UNTRAINED : { ...UNTRAINED, training }),
    stop: async () => fail(new PmlError('cancelled', 'The training was stopped')),
  });
  const untilStopped = () => new Promise<void>((stopped) => setTimeout(stopped, 50));
  const { code, out, err } = await runCommand(['train'], system, { isTty: true, untilStopped });
  expect(err).toContain('Training     [############............] 30/60  loss 1.500');
  expect(err).toMatch(/Stopped\. Nothing was changed\.\n$/);
  expect({ code, out }).toEqual({ code: 1, out: '' });
});

test('[LEARN-12] a failed training says why', async () => {
  const dead = { train: () => Promise.reject(new PmlError('internal', 'The training thread failed')) };
  expect(await runCommand(['train'], shelved(UNTRAINED, dead))).toMatchObject({
    code: 1,
    err: expect.stringContaining('The training thread failed'),
  });
});

test('[LEARN-21] --rollback says which ranker is used now', async () => {
  const back = await runCommand(['train', '--rollback'], shelved(sampleLearningReport()));
  expect(back.out).toMatch(
    /^Rolled back to the training on 1,200 runs at 2026-11-15 09:00 UTC\.\nThe gate is open/,
  );
  const none = await runCommand(['train', '--rollback'], shelved(UNTRAINED));
  expect(none.out).toBe('No earlier training exists. Search now ranks by text alone.\n');
});
