import { expect, onTestFinished, test } from 'vitest';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import { createApi } from './create-api.ts';

test('[DASH-41] /api/live returns active runs with what they did so far, and no others', async () => {
  const gateway = handMadeGateway({ riskOf: async () => null });
  const { events } = gateway;
  const start = (run_id: string) =>
    events.emit({
      type: 'run_started',
      run_id,
      session_id: 's',
      origin: 'agent',
      intent: 'count',
      owner: null,
      visibility: 'shared',
    });
  // Before anybody listened, and after.
  start('early');
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  start('late');
  start('over');
  const event = {
    type: 'tool_start',
    trace_id: 'a',
    parent_trace_id: null,
    node: 'files:read',
    ts: 1,
  } as const;
  events.emit({ type: 'trace_event', run_id: 'late', event });
  events.emit({ type: 'run_finished', run_id: 'over', trace_id: 't', status: 'success', duration_ms: 1 });

  const reply = await fetch(`${listener.url}/api/live`, { headers: { authorization: `Bearer ${token}` } });
  const at = '2026-11-15T10:00:00.000Z';
  const head = { session_id: 's', origin: 'agent', intent: 'count', started_at: at };
  expect(await reply.json()).toEqual({
    runs: [
      { run_id: 'early', ...head, events: [], risk: null },
      { run_id: 'late', ...head, events: [{ ...event, at }], risk: null },
    ],
    last_event_id: expect.stringMatching(/\.5$/),
  });
});
