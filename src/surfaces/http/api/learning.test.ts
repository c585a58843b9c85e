import { expect, onTestFinished, test } from 'vitest';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import { sampleInsight, sampleLearningReport } from '../../../../test/support/learning-report.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { LearningService } from '../../../engine/learning/learning-service.ts';
import { createApi } from './create-api.ts';

async function serve(parts: Partial<Gateway>) {
  const api = createApi(handMadeGateway(parts), { log: () => {} });
  const { listener, token } = await startHttp({ api });
  onTestFinished(listener.close);
  return async (path: string, body?: unknown) => {
    const reply = await fetch(`${listener.url}/api${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
}

function shelf(over: Partial<LearningService> = {}): Partial<Gateway> {
  const report = sampleLearningReport();
  return {
    learning: {
      report: async () => report,
      insight: async () => sampleInsight(),
      train: async () => report,
      judge: async () => null,
      stop: async () => {},
      rollBack: async () => report,
      ...over,
    },
  };
}

test('[LEARN-14] /api/learning returns model, gate, history, evidence and figures, in snake_case', async () => {
  const ask = await serve(shelf());
  const { status, body } = await ask('/learning');
  expect(status).toBe(200);
  const gate = {
    open: true,
    gain: 0.125,
    ci95: [0.05, 0.2],
    n: 40,
    far: { gain: 0, ci95: [0, 0], n: 60 },
    since: '2026-11-15T09:30:00.000Z',
  };
  const trained = { trained_at: '2026-11-15T09:00:00.000Z', runs: 1_200 };
  expect(body).toEqual({
    embedding: 'tiny/8',
    runs: 1_250,
    least_runs: 10,
    gate,
    model: { parameters: 50_000, ...trained },
    training: null,
    history: [{ ...trained, gate, loss: 0.25, seconds: 3.5 }],
    losses: [2.5, 1, 0.25],
    evidence: { learned: [1, 0.5], hybrid: [0.5, 0.5], far: { learned: [1], hybrid: [1] } },
    runs_to_ten_percent: 300,
    suggestions: { made: 10, accepted: 6, edited: 1, rejected: 1, acceptance_rate: 0.75 },
    success: {
      success_rate: 0.9,
      mean_path_length: 2.5,
      mean_absolute_td_error: 0.1,
      statistics_cache: { hits: 3, misses: 1, hit_rate: 0.75 },
    },
  });
  for (const path of ['/learning/train', '/learning/rollback'])
    expect(await ask(path, {}), path).toEqual({ status: 200, body });
});

test('[DASH-73] /api/learning/insight returns past trainings and what the model looks at', async () => {
  const ask = await serve(shelf());
  expect(await ask('/learning/insight')).toEqual({
    status: 200,
    body: {
      trainings: [
        {
          trained_at: '2026-11-15T09:00:00.000Z',
          runs: 1_200,
          judged: 40,
          learned: 0.75,
          hybrid: 0.5,
          ci95: [0.05, 0.2],
        },
      ],
      model: sampleInsight().model,
      td_errors: [0.5, 0.25],
      replay: {
        steps: 3,
        seen: 4,
        shares: [
          { up_to: 1, steps: 2 },
          { up_to: null, steps: 1 },
        ],
        most: 1.5,
      },
    },
  });
});

test('[LEARN-14] a stopped training and a missing training to roll back are reported as such', async () => {
  const ask = await serve(
    shelf({
      train: () => Promise.reject(new PmlError('cancelled', 'The training was stopped')),
      rollBack: () => Promise.reject(new PmlError('not_found', 'Nothing has been learned yet')),
    }),
  );
  expect(await ask('/learning/train', {})).toMatchObject({
    status: 409,
    body: { error: { code: 'cancelled', message: 'The training was stopped' } },
  });
  expect(await ask('/learning/rollback', {})).toMatchObject({ status: 404 });
});

test('[LEARN-23] /api/suggest returns a plan, or the next step after what was executed', async () => {
  const ask = await serve({
    suggest: async () => ({
      id: 's-1',
      plan: { tasks: [{ id: 'a', tool: 'files:read', arguments: {}, dependsOn: [] }], inputs: [] },
      confidence: 0.5,
      support: 0,
      basis: 'runs' as const,
      guesses: [],
      edges: [],
      alternatives: {},
      suggestedCapabilities: [],
    }),
    predictNext: async (intent, executed) => [{ node: executed[0]!, score: 1, reason: intent }],
    riskOfJob: async () => null,
  });
  expect(await ask('/suggest', { intent: 'read' })).toMatchObject({
    status: 200,
    body: { plan: { tasks: [{ tool: 'files:read', depends_on: [] }] }, confidence: 0.5 },
  });
  expect(await ask('/suggest', { intent: 'read', executed: ['files:list'] })).toEqual({
    status: 200,
    body: { next: [{ node: 'files:list', score: 1, reason: 'read' }] },
  });
  expect(await ask('/suggest', {})).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_argument', message: expect.stringContaining('intent') } },
  });
});

test('[LEARN-9] /api/search?explain=1 returns reasons', async () => {
  const asked: unknown[] = [];
  const ask = await serve({
    async searchTools({ explain }) {
      asked.push(explain);
      return [];
    },
  });
  await ask('/search?q=x&explain=1');
  await ask('/search?q=x');
  expect(asked).toEqual([true, undefined]);
});
