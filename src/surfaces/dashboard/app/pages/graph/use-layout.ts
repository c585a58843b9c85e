import { useEffect, useRef, useState } from 'preact/hooks';
import { toast } from '../../components/toast.tsx';
import type { Drawing } from './drawing.ts';
import type { LayoutAnswer, LayoutOrder } from './layout-worker.ts';

/** A drawing with a position for every node. */
export interface Settled {
  readonly drawing: Drawing;
  readonly places: Places;
  /** Changes when everything is new. */
  readonly scene: string;
}

const KEY = 'pml-graph-places';

/** Position of a node; a lone one is in the block of its server. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly isLone: boolean;
}

export type Places = ReadonlyMap<string, Place>;

const DEFAULTS = {
  /** Between lone nodes in their blocks, in pixels. */
  columnWidth: 150,
  rowHeight: 62,
  /** Between two blocks, and between the blocks and the rest. */
  gap: 96,
  /** Minimum width of all blocks together. */
  leastWidth: 900,
  /** Strength with which a capability holds its tools together. */
  hold: 1.2,
  /** Nodes whose positions are stored in the browser. */
  kept: 5_000,
};

let worker: Worker | undefined;
let asked = 0;

/**
 * Positions of all nodes. A node keeps its position, unless it becomes or ceases to be lone. Lone nodes are
 * in blocks at the bottom, one per server, because they have no relations to show.
 */
async function layOut(drawing: Drawing, kept: Places): Promise<Places> {
  const linked = drawing.nodes.filter(({ isLone }) => !isLone);
  const index = new Map(linked.map(({ id }, i) => [id, i]));
  const places = new Map<string, Place>();
  const known = new Float32Array(2 * linked.length).fill(Number.NaN);
  for (const [i, { id }] of linked.entries()) {
    const place = kept.get(id);
    if (place && !place.isLone) known.set([place.x, place.y], 2 * i);
  }
  const springs = [...drawing.edges, ...holdsOf(drawing)].flatMap(({ source, target, weight }) => {
    const ends = [index.get(source), index.get(target)];
    return ends[0] === undefined || ends[1] === undefined ? [] : [{ ends: ends as number[], weight }];
  });
  if (known.some(Number.isNaN)) {
    const { positions } = await inWorker({
      groups: Int32Array.from(linked, ({ community }) => community),
      edges: Int32Array.from(springs.flatMap(({ ends }) => ends)),
      weights: Float32Array.from(springs, ({ weight }) => weight),
      known,
    });
    known.set(positions);
  }
  for (const [i, { id }] of linked.entries())
    places.set(id, { x: known[2 * i]!, y: known[2 * i + 1]!, isLone: false });
  placeLone(drawing, kept, places);
  return places;
}

/** A capability is in the middle of its members, whether or not a run has used them yet. */
function holdsOf({ members }: Drawing) {
  return [...members].flatMap(([capability, nodes]) =>
    [...nodes].map((node) => ({ source: capability, target: node, weight: DEFAULTS.hold })),
  );
}

function placeLone({ nodes }: Drawing, kept: Places, places: Map<string, Place>): void {
  const lone = nodes.filter(({ isLone }) => isLone);
  const linked = [...places.values()];
  const left = Math.min(...linked.map(({ x }) => x), 0);
  const right = Math.max(...linked.map(({ x }) => x), left + DEFAULTS.leastWidth);
  const bottom = linked.length === 0 ? 0 : Math.max(...linked.map(({ y }) => y)) + 1.4 * DEFAULTS.gap;
  let [x, y, tallest] = [left, bottom, 0];
  const blocks = Map.groupBy(lone, ({ server, kind }) => server ?? kind);
  for (const [, all] of [...blocks].sort(([, a], [, b]) => b.length - a.length)) {
    const columns = Math.max(1, Math.ceil(Math.sqrt(all.length * 0.8)));
    const rows = Math.ceil(all.length / columns);
    if (x > left && x + (columns - 1) * DEFAULTS.columnWidth > right) {
      [x, y, tallest] = [left, y + tallest + DEFAULTS.gap, 0];
    }
    for (const [i, { id }] of all.entries()) {
      const before = kept.get(id);
      const place = {
        x: x + (i % columns) * DEFAULTS.columnWidth,
        y: y + Math.floor(i / columns) * DEFAULTS.rowHeight,
        isLone: true,
      };
      places.set(id, before?.isLone ? before : place);
    }
    x += (columns - 1) * DEFAULTS.columnWidth + DEFAULTS.gap + DEFAULTS.columnWidth * 0.6;
    tallest = Math.max(tallest, (rows - 1) * DEFAULTS.rowHeight);
  }
}

function inWorker(task: Omit<LayoutOrder, 'id'>): Promise<LayoutAnswer> {
  worker ??= new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  const own = worker;
  const id = ++asked;
  return new Promise((resolve, reject) => {
    const hear = ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.id !== id) return;
      own.removeEventListener('message', hear);
      resolve(data);
    };
    own.addEventListener('message', hear);
    own.addEventListener('error', () => reject(new Error('The layout failed')), { once: true });
    own.postMessage({ ...task, id });
  });
}

/** Restores stored positions, so that nodes are where the user left them. */
function readPlaces(): Places {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    return new Map(
      Object.entries(kept).flatMap(([id, place]) => {
        if (!Array.isArray(place) || !place.every(Number.isFinite)) return [];
        const [x = 0, y = 0, isLone = 0] = place as number[];
        return [[id, { x, y, isLone: isLone === 1 }] as const];
      }),
    );
  } catch {
    return new Map();
  }
}

function keepPlaces(places: Places): void {
  const entries = [...places].slice(0, DEFAULTS.kept);
  const rounded = entries.map(([id, { x, y, isLone }]) => [
    id,
    [Math.round(x), Math.round(y), isLone ? 1 : 0],
  ]);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(rounded)));
  } catch {
    // Without storage the layout is computed again next time.
  }
}

/** Places new nodes and leaves the others; meanwhile the previous drawing stays. */
export function useSettled(drawing: Drawing): {
  readonly settled: Settled | null;
  move(id: string, place: Place): void;
  layOutAgain(): void;
} {
  const [settled, setSettled] = useState<Settled | null>(null);
  const [round, setRound] = useState(0);
  const laidOut = useRef(0);
  const kept = useRef<Places | null>(null);
  useEffect(() => {
    let isWanted = true;
    kept.current ??= readPlaces();
    const isFresh = laidOut.current !== round;
    laidOut.current = round;
    layOut(drawing, isFresh ? new Map() : kept.current).then(
      (places) => {
        if (!isWanted) return;
        // Nodes that are not drawn now keep their positions too.
        kept.current = new Map([...(isFresh ? [] : kept.current!), ...places]);
        keepPlaces(kept.current);
        setSettled({ drawing, places, scene: `definition ${round}` });
      },
      () => isWanted && toast('The layout failed', 'bad'),
    );
    return () => {
      isWanted = false;
    };
  }, [drawing, round]);
  return {
    settled,
    move(id, place) {
      kept.current = new Map(kept.current).set(id, place);
      keepPlaces(kept.current);
      setSettled((last) => last && { ...last, places: new Map(last.places).set(id, place) });
    },
    layOutAgain: () => setRound(round + 1),
  };
}
