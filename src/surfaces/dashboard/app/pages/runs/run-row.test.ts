import { expect, test } from 'vitest';
import type { TraceSummary } from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import { stepsOf } from './calls.ts';
import { type FollowedRuns, followRuns } from './live-runs.ts';
import { rowsOfRuns, statusOf } from './run-row.ts';

const at = '2026-11-15T10:00:00.000Z';
const EVENTS: LiveEvent[] = [
  { type: 'run_started', at, run_id: 'r', session_id: null, origin: 'agent', intent: 'count' },
  {
    type: 'trace_event',
    at,
    run_id: 'r',
    event: { type: 'tool_start', trace_id: 'a', parent_trace_id: null, node: 's:t', ts: 1 },
  },
  { type: 'run_finished', at, run_id: 'r', trace_id: 'trace', status: 'success', duration_ms: 5 },
];
const NOTHING: FollowedRuns = { runs: [] };

test('[DASH-42] duplicate events change nothing', () => {
  const started = EVENTS.slice(0, 2).reduce(followRuns, NOTHING);
  expect(EVENTS.slice(0, 2).reduce(followRuns, started)).toBe(started);
  const over = followRuns(started, EVENTS[2]!);
  expect(followRuns(over, EVENTS[2]!)).toBe(over);
  expect(over.runs[0]).toMatchObject({ end: { traceId: 'trace', status: 'success' } });
});

test('[DASH-42] a run is listed once, live or stored, under the same key', () => {
  const running = EVENTS.slice(0, 2).reduce(followRuns, NOTHING).runs;
  expect(rowsOfRuns([], running)).toMatchObject([{ key: 'r', id: 'r', status: 'running', path: ['s:t'] }]);
  const over = EVENTS.reduce(followRuns, NOTHING).runs;
  expect(rowsOfRuns([], over)).toMatchObject([{ key: 'r', id: 'trace', status: 'success' }]);
  const trace = { id: 'trace', run_id: 'r', success: true, executed_path: ['s:t'], intent_text: 'count' };
  const earlier = { ...trace, id: 'earlier' };
  const rows = rowsOfRuns([trace, earlier] as unknown as TraceSummary[], over);
  expect(rows.map(({ key, id }) => [key, id])).toEqual([
    ['r 1', 'trace'],
    ['r', 'earlier'],
  ]);
  // A row is not renamed when its run continues.
  expect(rowsOfRuns([earlier] as unknown as TraceSummary[], [])).toMatchObject([{ key: 'r', id: 'earlier' }]);
});

test('[DASH-42] a run that waits for a person has not failed', () => {
  const failed = { success: false, error_type: 'UNKNOWN', error_message: 'x', task_results: [] } as const;
  expect(statusOf(failed)).toBe('error');
  expect(statusOf({ ...failed, task_results: [{ status: 'waiting' }] })).toBe('approval_required');
  expect(statusOf({ ...failed, error_type: 'PERMISSION', error_message: null })).toBe('approval_required');
});

test('[DASH-42] consecutive repeats are shown as one', () => {
  expect(stepsOf(['a', 'b', 'b', 'a'])).toEqual([
    { node: 'a', count: 1 },
    { node: 'b', count: 2 },
    { node: 'a', count: 1 },
  ]);
});
