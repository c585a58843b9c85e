/**
 * Force-directed positions: springs along edges, repulsion between close nodes, and attraction of each node
 * to its group. Fruchterman & Reingold, "Graph drawing by force-directed placement" (1991): their grid
 * variant, in which only nodes of neighbouring cells repel each other, so that a step costs O(nodes + edges).
 * Cooling and damping as in Dwyer, "Scalable, versatile and simple constrained graph layout" (2009).
 *
 * No randomness: the same graph always looks the same.
 */
export interface LayoutTask {
  /** [nodes] Nodes of one group stay together. */
  readonly groups: Int32Array;
  /** [2 x edges] */
  readonly edges: Int32Array;
  /** [edges] Strength of each edge's spring. */
  readonly weights: Float32Array;
  /** [2 x nodes] Fixed positions; NaN for nodes to be placed. */
  readonly known: Float32Array;
}

const DEFAULTS = {
  /** Distance between neighbours in pixels; the other lengths are relative to it. */
  distance: 84,
  /** Final horizontal stretch, because labels are wide. */
  stretch: 1.35,
  steps: 320,
  /** Nodes up to which all steps run; beyond, steps times nodes stays constant. */
  fullSteps: 500,
  leastSteps: 140,
  repulsion: 0.1,
  /** Nodes from which repulsion grows, up to three times: larger graphs pull from more sides. */
  crowd: 250,
  /** Range of repulsion, in distances. */
  reach: 3,
  spring: 0.32,
  group: 0.07,
  centre: 0.02,
  /** Nodes beyond which the centre pulls less, so that groups have room to separate. */
  centredNodes: 60,
  /** Velocity kept from step to step. */
  keeps: 0.6,
  /** Longest move in one step, in distances. */
  longest: 1.2,
};

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** Returns x and y of each node, [2 x nodes]. */
export function forceLayout(task: LayoutTask): Float32Array {
  const size = task.groups.length;
  const at = startOf(task);
  const isFixed = Uint8Array.from({ length: size }, (_, i) => (Number.isNaN(task.known[2 * i]) ? 0 : 1));
  if (!isFixed.includes(0)) return task.known.slice();
  const steps = Math.max(
    DEFAULTS.leastSteps,
    Math.round((DEFAULTS.steps * DEFAULTS.fullSteps) / Math.max(size, DEFAULTS.fullSteps)),
  );
  const velocity = new Float32Array(2 * size);
  const springs = springsOf(task);
  for (let step = 0; step < steps; step++) {
    const heat = (1 - step / steps) ** 1.5;
    repel(at, velocity, heat);
    pull(task, springs, at, velocity, heat);
    gather(task.groups, at, velocity, heat);
    const longest = DEFAULTS.longest * DEFAULTS.distance * heat + 1;
    for (let i = 0; i < size; i++) {
      if (isFixed[i]) continue;
      const [dx, dy] = [velocity[2 * i]! * DEFAULTS.keeps, velocity[2 * i + 1]! * DEFAULTS.keeps];
      const way = Math.hypot(dx, dy);
      const share = way > longest ? longest / way : 1;
      velocity[2 * i] = dx * share;
      velocity[2 * i + 1] = dy * share;
      at[2 * i]! += dx * share;
      at[2 * i + 1]! += dy * share;
    }
  }
  for (let i = 0; i < size; i++) at[2 * i]! *= DEFAULTS.stretch;
  // Returns fixed positions exactly, without rounding errors.
  for (let i = 0; i < size; i++) {
    if (isFixed[i]) at.set(task.known.subarray(2 * i, 2 * i + 2), 2 * i);
  }
  return at;
}

/**
 * Fixed positions unstretched; new nodes next to their neighbours, or in a sunflower around their group's
 * anchor.
 */
function startOf({ groups, edges, known }: LayoutTask): Float32Array {
  const size = groups.length;
  const at = new Float32Array(2 * size);
  const anchors = seatsOf(groups);
  const sum = new Float32Array(3 * size);
  for (let e = 0; e < edges.length; e += 2) {
    for (const [one, other] of [
      [edges[e]!, edges[e + 1]!],
      [edges[e + 1]!, edges[e]!],
    ] as const) {
      if (Number.isNaN(known[2 * other])) continue;
      sum[3 * one]! += known[2 * other]! / DEFAULTS.stretch;
      sum[3 * one + 1]! += known[2 * other + 1]!;
      sum[3 * one + 2]! += 1;
    }
  }
  const placed = new Map<number, number>();
  for (let i = 0; i < size; i++) {
    const nth = placed.get(groups[i]!) ?? 0;
    placed.set(groups[i]!, nth + 1);
    const neighbours = sum[3 * i + 2]!;
    if (!Number.isNaN(known[2 * i])) {
      at[2 * i] = known[2 * i]! / DEFAULTS.stretch;
      at[2 * i + 1] = known[2 * i + 1]!;
      continue;
    }
    const anchor = anchors.get(groups[i]!)!;
    const [x, y, spread] =
      neighbours > 0
        ? [sum[3 * i]! / neighbours, sum[3 * i + 1]! / neighbours, 0.6]
        : [anchor.x, anchor.y, 0.75 * Math.sqrt(nth + 0.5)];
    at[2 * i] = x + DEFAULTS.distance * spread * Math.cos(nth * GOLDEN_ANGLE);
    at[2 * i + 1] = y + DEFAULTS.distance * spread * Math.sin(nth * GOLDEN_ANGLE);
  }
  return at;
}

/** The largest group in the centre, the others around it where they fit. */
function seatsOf(groups: Int32Array): Map<number, { x: number; y: number; radius: number }> {
  const counts = new Map<number, number>();
  for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1);
  const anchors = new Map<number, { x: number; y: number; radius: number }>();
  let turn = 0;
  for (const [group, count] of [...counts].sort(([a, m], [b, n]) => n - m || a - b)) {
    const radius = DEFAULTS.distance * (0.8 * Math.sqrt(count) + 0.4);
    for (; ; turn++) {
      const [angle, far] = [turn * 0.35, turn * DEFAULTS.distance * 0.09];
      const [x, y] = [far * Math.cos(angle), far * Math.sin(angle)];
      if ([...anchors.values()].some((other) => Math.hypot(other.x - x, other.y - y) < other.radius + radius))
        continue;
      anchors.set(group, { x, y, radius });
      break;
    }
    // The next group is smaller and may fit closer to the centre.
    turn = Math.floor(turn * 0.6);
  }
  return anchors;
}

/** [edges] Weaker where both ends have many edges, so that a hub is not pulled to one side. */
function springsOf({ groups, edges, weights }: LayoutTask): Float32Array {
  const degrees = new Float32Array(groups.length);
  for (const end of edges) degrees[end]! += 1;
  return weights.map(
    (weight, e) =>
      (DEFAULTS.spring * (0.4 + weight)) / Math.min(degrees[edges[2 * e]!]!, degrees[edges[2 * e + 1]!]!),
  );
}

function repel(at: Float32Array, velocity: Float32Array, heat: number): void {
  const size = at.length / 2;
  const reach = DEFAULTS.reach * DEFAULTS.distance;
  const crowd = Math.min(3, Math.max(1, size / DEFAULTS.crowd));
  const strength = DEFAULTS.repulsion * crowd * DEFAULTS.distance ** 2 * heat;
  const { next, first, columns, rows, cellOf } = cellsOf(at, reach);
  for (let i = 0; i < size; i++) {
    const cell = cellOf(i);
    const [column, row] = [cell % columns, Math.floor(cell / columns)];
    for (let y = Math.max(0, row - 1); y <= Math.min(rows - 1, row + 1); y++) {
      for (let x = Math.max(0, column - 1); x <= Math.min(columns - 1, column + 1); x++) {
        for (let j = first[y * columns + x]!; j !== -1; j = next[j]!) {
          if (j <= i) continue;
          let dx = at[2 * i]! - at[2 * j]!;
          const dy = at[2 * i + 1]! - at[2 * j + 1]!;
          let square = dx * dx + dy * dy;
          if (square > reach * reach) continue;
          // Two nodes in the same place separate in a fixed direction.
          if (square < 1) [dx, square] = [i % 2 === 0 ? 1 : -1, 1];
          const push = strength / square;
          velocity[2 * i]! += dx * push;
          velocity[2 * i + 1]! += dy * push;
          velocity[2 * j]! -= dx * push;
          velocity[2 * j + 1]! -= dy * push;
        }
      }
    }
  }
}

/** A grid of cells as wide as the range of repulsion, each a linked list of its nodes. */
function cellsOf(at: Float32Array, width: number) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < at.length; i += 2) {
    left = Math.min(left, at[i]!);
    right = Math.max(right, at[i]!);
    top = Math.min(top, at[i + 1]!);
    bottom = Math.max(bottom, at[i + 1]!);
  }
  const columns = Math.floor((right - left) / width) + 1;
  const rows = Math.floor((bottom - top) / width) + 1;
  const cellOf = (i: number) =>
    Math.floor((at[2 * i + 1]! - top) / width) * columns + Math.floor((at[2 * i]! - left) / width);
  const first = new Int32Array(columns * rows).fill(-1);
  const next = new Int32Array(at.length / 2);
  for (let i = 0; i < next.length; i++) {
    const cell = cellOf(i);
    next[i] = first[cell]!;
    first[cell] = i;
  }
  return { next, first, columns, rows, cellOf };
}

function pull(
  { edges }: LayoutTask,
  springs: Float32Array,
  at: Float32Array,
  velocity: Float32Array,
  heat: number,
): void {
  for (let e = 0; e < springs.length; e++) {
    const [i, j] = [edges[2 * e]!, edges[2 * e + 1]!];
    const [dx, dy] = [at[2 * j]! - at[2 * i]!, at[2 * j + 1]! - at[2 * i + 1]!];
    const length = Math.hypot(dx, dy) || 1;
    const share = ((length - DEFAULTS.distance) / length) * springs[e]! * heat;
    velocity[2 * i]! += dx * share;
    velocity[2 * i + 1]! += dy * share;
    velocity[2 * j]! -= dx * share;
    velocity[2 * j + 1]! -= dy * share;
  }
}

/** Pulls each node to the centre of its group, and a little to the overall centre. */
function gather(groups: Int32Array, at: Float32Array, velocity: Float32Array, heat: number): void {
  const centre = DEFAULTS.centre * Math.min(1, Math.sqrt(DEFAULTS.centredNodes / groups.length));
  const middles = new Map<number, { x: number; y: number; count: number }>();
  let [x, y] = [0, 0];
  for (let i = 0; i < groups.length; i++) {
    const middle = middles.get(groups[i]!) ?? { x: 0, y: 0, count: 0 };
    middles.set(groups[i]!, middle);
    middle.x += at[2 * i]!;
    middle.y += at[2 * i + 1]!;
    middle.count += 1;
    x += at[2 * i]!;
    y += at[2 * i + 1]!;
  }
  [x, y] = [x / groups.length, y / groups.length];
  for (let i = 0; i < groups.length; i++) {
    const middle = middles.get(groups[i]!)!;
    const [ownX, ownY] = [middle.x / middle.count, middle.y / middle.count];
    velocity[2 * i]! += heat * (DEFAULTS.group * (ownX - at[2 * i]!) + centre * (x - at[2 * i]!));
    velocity[2 * i + 1]! += heat * (DEFAULTS.group * (ownY - at[2 * i + 1]!) + centre * (y - at[2 * i + 1]!));
  }
}
