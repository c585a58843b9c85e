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
  /** What is added to the node whose calls took longest. */
  longest: 18,
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

/** What is drawn as one node: a call, or all calls of a tool. The first of them gives it its place. */
export interface CallGroup {
  readonly id: string;
  readonly calls: readonly [RunCall, ...RunCall[]];
  /** Of all its calls together, in milliseconds; null while none has ended. */
  readonly totalMs: number | null;
}

/**
 * Every call of one run, including repeats, or the calls of each tool as one node. Time goes down; concurrent calls
 * are side by side, and calls of a capability are inside its hull.
 */
export function runDrawing(
  trace: Pick<Trace, 'events' | 'tool_invocations' | 'follows' | 'value_flow'>,
  withOperations: boolean,
  labelOf: (node: string) => string,
  isTogether = false,
): Drawing & { readonly groups: readonly CallGroup[] } {
  const calls = callsOf(trace).filter(({ node }) => withOperations || kindOf(node) !== 'operation');
  const groups = [...Map.groupBy(calls, ({ id, node }) => (isTogether ? node : id))].map(
    ([id, all]): CallGroup => {
      const took = all.flatMap(({ durationMs }) => durationMs ?? []);
      const totalMs = took.length === 0 ? null : took.reduce((sum, ms) => sum + ms, 0);
      return { id, calls: all as [RunCall, ...RunCall[]], totalMs };
    },
  );
  const byTrace = new Map(groups.flatMap((group) => group.calls.map(({ traceId }) => [traceId, group])));
  const parentOf = ({ parent }: RunCall) => (parent === null ? undefined : byTrace.get(parent));
  /** Each pair of different nodes once, with the number of its calls. */
  const edgesOf = (type: DrawnEdge['type'], pairs: readonly (readonly [string, string])[]) => {
    const linked = pairs.flatMap(([one, other]) => {
      const [from, to] = [byTrace.get(one), byTrace.get(other)];
      return from && to && from !== to ? [{ from, to }] : [];
    });
    return [...Map.groupBy(linked, ({ from, to }) => `${from.id} ${type} ${to.id}`)].map(([id, all]) => ({
      from: all[0]!.from,
      to: all[0]!.to,
      edge: {
        id,
        source: all[0]!.from.id,
        target: all[0]!.to.id,
        type,
        origin: 'observed',
        weight: 0.5,
        runs: 1,
        calls: all.length,
      } satisfies DrawnEdge,
    }));
  };
  const contained = edgesOf(
    'contains',
    calls.flatMap(({ parent, traceId }) => (parent === null ? [] : [[parent, traceId] as const])),
  );
  const followed = edgesOf(
    'sequence',
    trace.follows.flatMap(({ from_trace_id, to_trace_id, past_operations }) =>
      withOperations && past_operations ? [] : [[from_trace_id, to_trace_id] as const],
    ),
  );
  const provided = edgesOf(
    'provides',
    trace.value_flow.map(({ from_trace_id, to_trace_id }) => [from_trace_id, to_trace_id] as const),
  );
  const order = new Map(groups.map((group, i) => [group, i]));
  const places = placeGroups(
    Map.groupBy(groups, ({ calls: [first] }) => parentOf(first) ?? null),
    // A tool that is called again later would come before itself; and layers are those of one caller.
    followed.filter(
      ({ from, to }) =>
        order.get(from)! < order.get(to)! && parentOf(from.calls[0]) === parentOf(to.calls[0]),
    ),
  );
  const counts = Map.groupBy(calls, ({ node }) => node);
  const longest = Math.max(1, ...groups.map(({ totalMs }) => totalMs ?? 0));
  const direct = new Map<string, Set<string>>();
  for (const { from, to } of contained) direct.set(from.id, (direct.get(from.id) ?? new Set()).add(to.id));
  return {
    groups,
    nodes: groups.map((group): DrawnNode => {
      const [first] = group.calls;
      const kind = kindOf(first.node);
      const same = counts.get(first.node)!;
      const size = DEFAULTS[`${kind}Size`];
      return {
        id: group.id,
        kind,
        label: labelOf(first.node),
        server: kind === 'tool' ? first.node.slice(0, first.node.indexOf(':')) : null,
        community: 0,
        cluster: null,
        size: isTogether ? size + DEFAULTS.longest * Math.sqrt((group.totalMs ?? 0) / longest) : size,
        isLone: false,
        isFailed: group.calls.some(({ success }) => !success),
        ...(isTogether
          ? { together: { calls: group.calls.length, totalMs: group.totalMs } }
          : same.length > 1 && { nth: same.indexOf(first) + 1 }),
        at: places.get(group)!,
      };
    }),
    edges: [...contained, ...followed, ...provided].map(({ edge }) => edge),
    members: nested(direct),
  };
}

interface Block {
  readonly width: number;
  readonly height: number;
  place(x: number, y: number): void;
}

/** Layers by the longest chain before a call; a capability is a block with its calls in layers below it. */
function placeGroups(
  children: ReadonlyMap<CallGroup | null, readonly CallGroup[]>,
  pairs: readonly { from: CallGroup; to: CallGroup }[],
): Map<CallGroup, { x: number; y: number }> {
  const places = new Map<CallGroup, { x: number; y: number }>();
  const before = Map.groupBy(pairs, ({ to }) => to);
  const layerOf = new Map<CallGroup, number>();

  function family(parent: CallGroup | null): Block {
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

  function block(call: CallGroup): Block {
    const { width, height, padding } = DEFAULTS;
    const inside = children.has(call) ? family(call) : null;
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
