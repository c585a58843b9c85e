import { expect, test } from 'vitest';
import type { WireTraceEvent } from '../../../../../core/vocabulary/trace-event.ts';
import { runDrawing } from './run-drawing.ts';

function call(
  trace_id: string,
  node: string,
  from: number,
  to: number,
  parent: string | null = null,
): WireTraceEvent[] {
  const kind = node.startsWith('capability:') ? 'capability' : 'tool';
  const base = { trace_id, parent_trace_id: parent, node };
  return [
    { ...base, type: `${kind}_start`, ts: from, args: { from } },
    { ...base, type: `${kind}_end`, ts: to, success: to < 100, duration_ms: to - from },
  ];
}

const follows = (...pairs: readonly string[]) =>
  pairs.map((pair) => {
    const [from_trace_id = '', sign, to_trace_id = ''] = pair.split(' ');
    return { from_trace_id, to_trace_id, past_operations: sign === '=>' };
  });

/** list, then two reads at once within a capability, then an operation, then a write that failed. */
const TRACE = {
  events: [
    ...call('list', 'fs:list', 0, 1),
    ...call('cap', 'capability:x', 2, 9),
    ...call('r1', 'fs:read', 3, 6, 'cap'),
    ...call('r2', 'fs:read', 4, 7, 'cap'),
    ...call('map', 'code:map', 10, 11),
    ...call('write', 'fs:write', 12, 100),
  ],
  tool_invocations: [],
  value_flow: [{ from: '', to: '', from_path: '', to_path: '', from_trace_id: 'list', to_trace_id: 'r1' }],
  follows: follows('list -> cap', 'cap -> map', 'map -> write', 'cap => write'),
};

const draw = (withOperations: boolean) => runDrawing(TRACE, withOperations, (node) => node);
const told = (withOperations: boolean) =>
  draw(withOperations).edges.map(({ source, type, target }) => `${source} ${type} ${target}`);

test('[DASH-25] every call is a node, repeats are counted, and failures are shown', () => {
  const { nodes } = draw(false);
  expect(nodes.map(({ id, nth, isFailed }) => ({ id, nth, isFailed }))).toEqual([
    { id: 'fs:list#0', nth: undefined, isFailed: false },
    { id: 'capability:x#0', nth: undefined, isFailed: false },
    { id: 'fs:read#0', nth: 1, isFailed: false },
    { id: 'fs:read#1', nth: 2, isFailed: false },
    { id: 'fs:write#0', nth: undefined, isFailed: true },
  ]);
});

test('[DASH-25] simultaneous calls are side by side, later ones below, and those of a capability inside it', () => {
  const { nodes, members } = draw(false);
  const at = (id: string) => nodes.find((node) => node.id === id)!.at!;
  expect(at('fs:read#0').y).toBe(at('fs:read#1').y);
  expect(at('fs:read#0').x).toBeLessThan(at('fs:read#1').x);
  const down = ['fs:list#0', 'capability:x#0', 'fs:read#0', 'fs:write#0'].map((id) => at(id).y);
  expect(down).toEqual(down.toSorted((a, b) => a - b));
  expect(new Set(down).size).toBe(4);
  expect(members).toEqual(new Map([['capability:x#0', new Set(['fs:read#0', 'fs:read#1'])]]));
});

test('[DASH-25] the order of calls passes through operations that are not drawn', () => {
  expect(told(false)).toEqual([
    'capability:x#0 contains fs:read#0',
    'capability:x#0 contains fs:read#1',
    'fs:list#0 sequence capability:x#0',
    'capability:x#0 sequence fs:write#0',
    'fs:list#0 provides fs:read#0',
  ]);
  expect(told(true)).toContain('code:map#0 sequence fs:write#0');
  expect(told(true)).not.toContain('capability:x#0 sequence fs:write#0');
});

test('[DASH-96] drawn by tool, all calls of a tool are one node with their number and total time, once inside a capability that made them', () => {
  const trace = {
    ...TRACE,
    events: [...TRACE.events, ...call('again', 'fs:list', 101, 103), ...call('own', 'fs:list', 104, 105)],
    follows: follows('list -> cap', 'cap -> write', 'write -> again', 'again -> own'),
  };
  const { nodes, edges, members, groups } = runDrawing(trace, false, (node) => node, true);
  const told = nodes.map(({ id, together, isFailed }) => ({ id, ...together, isFailed }));
  expect(told).toEqual([
    { id: 'fs:list', calls: 3, totalMs: 4, isFailed: true },
    { id: 'capability:x', calls: 1, totalMs: 7, isFailed: false },
    { id: 'fs:read', calls: 2, totalMs: 6, isFailed: false },
    { id: 'fs:write', calls: 1, totalMs: 88, isFailed: true },
  ]);
  expect(groups.map(({ calls }) => calls.map(({ id }) => id))[0]).toEqual([
    'fs:list#0',
    'fs:list#1',
    'fs:list#2',
  ]);
  // Two calls of one tool in a row make no edge.
  expect(edges.map(({ id, calls }) => `${id} ${calls}`)).toEqual([
    'capability:x contains fs:read 2',
    'fs:list sequence capability:x 1',
    'capability:x sequence fs:write 1',
    'fs:write sequence fs:list 1',
    'fs:list provides fs:read 1',
  ]);
  expect(members).toEqual(new Map([['capability:x', new Set(['fs:read'])]]));
  // By their first calls, also where a later one leads back up.
  const down = nodes.map(({ at }) => at!.y);
  expect(down).toEqual(down.toSorted((a, b) => a - b));
  expect(new Set(nodes.map(({ at }) => `${at!.x} ${at!.y}`)).size).toBe(4);
});

test('[DASH-96] a tool called inside a capability and later outside it has one position', () => {
  const trace = {
    ...TRACE,
    events: [
      ...call('cap', 'capability:x', 0, 9),
      ...call('r1', 'fs:read', 1, 2, 'cap'),
      ...call('w1', 'fs:write', 3, 4, 'cap'),
      ...call('list', 'fs:list', 10, 11),
      ...call('r2', 'fs:read', 12, 13),
      ...call('stat', 'fs:stat', 14, 15),
    ],
    value_flow: [],
    follows: follows('r1 -> w1', 'cap -> list', 'list -> r2', 'r2 -> stat', 'w1 -> r2'),
  };
  const { nodes } = runDrawing(trace, false, (node) => node, true);
  expect(nodes.map(({ id }) => id)).toEqual(['capability:x', 'fs:read', 'fs:write', 'fs:list', 'fs:stat']);
  expect(new Set(nodes.map(({ at }) => `${at!.x} ${at!.y}`)).size).toBe(5);
});
