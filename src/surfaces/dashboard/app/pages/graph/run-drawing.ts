import type { Trace } from '../../../shared/api-types.ts';
import { kindOf } from '../../../shared/vocabulary.ts';
import { type Drawing, type DrawnEdge, type DrawnNode, nested } from './drawing.ts';

const DEFAULTS = {
  /** Space of one call, in pixels. */
  width: 168,
  height: 92,
  /** Around the calls inside a capability. */
  padding: 34,
  toolSize: 24,
  operationSize: 14,
  capabilitySize: 26,
};

/** One call of a run, with the id of the trace's invocation: `files:read#1` is its second call. */
export interface RunCall {
  readonly id: string;
  readonly traceId: string;
  readonly parent: string | null;
  readonly node: string;
  readonly args: unknown;
  readonly result: unknown;
  readonly error: string | null;
  readonly durationMs: number | null;
  readonly success: boolean;
  readonly parallelWith: readonly string[];
}

/** In order of start. */
function callsOf({ events, tool_invocations }: Pick<Trace, 'events' | 'tool_invocations'>): RunCall[] {
  const ends = new Map(events.flatMap((e) => (e.type.endsWith('_end') ? [[e.trace_id, e] as const] : [])));
  const invocations = new Map(tool_invocations.map((call) => [call.id, call]));
  const counts = new Map<string, number>();
  const starts = events.filter(({ type }) => type.endsWith('_start')).sort((a, b) => a.ts - b.ts);
  return starts.map((start) => {
    const nth = counts.get(start.node) ?? 0;
    counts.set(start.node, nth + 1);
    const id = `${start.node}#${nth}`;
    const end = ends.get(start.trace_id);
    return {
      id,
      traceId: start.trace_id,
      parent: start.parent_trace_id,
      node: start.node,
      args: start.args,
      result: end?.result,
      error: end?.error ?? null,
      durationMs: end?.duration_ms ?? null,
      success: end?.success ?? false,
      parallelWith: invocations.get(id)?.parallel_with ?? [],
    };
  });
}

/**
 * Every call of one run, including repeats. Time goes down; concurrent calls are side by side, and calls of a
 * capability are inside its hull.
 */
export function runDrawing(
  trace: Pick<Trace, 'events' | 'tool_invocations' | 'follows' | 'value_flow'>,
  withOperations: boolean,
  labelOf: (node: string) => string,
): Drawing & { readonly calls: readonly RunCall[] } {
  const calls = callsOf(trace).filter(({ node }) => withOperations || kindOf(node) !== 'operation');
  const byTrace = new Map(calls.map((call) => [call.traceId, call]));
  const children = Map.groupBy(calls, ({ parent }) =>
    parent !== null && byTrace.has(parent) ? parent : null,
  );
  const pairs = trace.follows.flatMap(({ from_trace_id, to_trace_id, past_operations }) => {
    const [from, to] = [byTrace.get(from_trace_id), byTrace.get(to_trace_id)];
    return from && to && !(withOperations && past_operations) ? [{ from, to }] : [];
  });
  const places = placeCalls(children, pairs);
  const edge = (type: DrawnEdge['type'], from: RunCall, to: RunCall): DrawnEdge => ({
    id: `${from.id} ${type} ${to.id}`,
    source: from.id,
    target: to.id,
    type,
    origin: 'observed',
    weight: 0.5,
    runs: 1,
    calls: 1,
  });
  const contained = calls.flatMap((to) => {
    const from = to.parent === null ? undefined : byTrace.get(to.parent);
    return from ? [edge('contains', from, to)] : [];
  });
  const provided = new Map(
    trace.value_flow.flatMap(({ from_trace_id, to_trace_id }) => {
      const [from, to] = [byTrace.get(from_trace_id), byTrace.get(to_trace_id)];
      if (!from || !to) return [];
      const made = edge('provides', from, to);
      return [[made.id, made] as const];
    }),
  );
  const counts = Map.groupBy(calls, ({ node }) => node);
  const direct = new Map<string, Set<string>>();
  for (const { source, target } of contained)
    direct.set(source, (direct.get(source) ?? new Set()).add(target));
  return {
    calls,
    nodes: calls.map((call): DrawnNode => {
      const kind = kindOf(call.node);
      return {
        id: call.id,
        kind,
        label: labelOf(call.node),
        server: kind === 'tool' ? call.node.slice(0, call.node.indexOf(':')) : null,
        community: 0,
        cluster: null,
        size: DEFAULTS[`${kind}Size`],
        isLone: false,
        isFailed: !call.success,
        ...(counts.get(call.node)!.length > 1 && { nth: counts.get(call.node)!.indexOf(call) + 1 }),
        at: places.get(call)!,
      };
    }),
    edges: [...contained, ...pairs.map(({ from, to }) => edge('sequence', from, to)), ...provided.values()],
    members: nested(direct),
  };
}

interface Block {
  readonly width: number;
  readonly height: number;
  place(x: number, y: number): void;
}

/** Layers by the longest chain before a call; a capability is a block with its calls in layers below it. */
function placeCalls(
  children: ReadonlyMap<string | null, readonly RunCall[]>,
  pairs: readonly { from: RunCall; to: RunCall }[],
): Map<RunCall, { x: number; y: number }> {
  const places = new Map<RunCall, { x: number; y: number }>();
  const before = Map.groupBy(pairs, ({ to }) => to);
  const layerOf = new Map<RunCall, number>();

  function family(parent: string | null): Block {
    const layers: Block[][] = [];
    // In order of start, so that a call's predecessors already have their layers.
    for (const call of children.get(parent) ?? []) {
      const layer = Math.max(-1, ...(before.get(call) ?? []).map(({ from }) => layerOf.get(from) ?? -1)) + 1;
      layerOf.set(call, layer);
      layers[layer] = [...(layers[layer] ?? []), block(call)];
    }
    const rows = layers.map((blocks) => ({
      blocks,
      width: blocks.reduce((sum, { width }) => sum + width, 0),
      height: Math.max(...blocks.map(({ height }) => height)),
    }));
    const width = Math.max(0, ...rows.map((row) => row.width));
    return {
      width,
      height: rows.reduce((sum, { height }) => sum + height, 0),
      place(x, y) {
        let top = y;
        for (const row of rows) {
          let left = x + (width - row.width) / 2;
          for (const each of row.blocks) {
            each.place(left, top + (row.height - each.height) / 2);
            left += each.width;
          }
          top += row.height;
        }
      },
    };
  }

  function block(call: RunCall): Block {
    const { width, height, padding } = DEFAULTS;
    const inside = children.has(call.traceId) ? family(call.traceId) : null;
    const whole = inside
      ? { width: Math.max(width, inside.width) + 2 * padding, height: inside.height + height + padding }
      : { width, height };
    return {
      ...whole,
      place(x, y) {
        places.set(call, { x: x + whole.width / 2, y: y + height / 2 });
        inside?.place(x + (whole.width - inside.width) / 2, y + height);
      },
    };
  }

  family(null).place(0, 0);
  return places;
}
