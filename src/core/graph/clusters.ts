import { UndirectedGraph } from 'graphology';
import louvainModule from 'graphology-communities-louvain';
import { leadingEigen, symmetricEigen } from '../numeric/eigen.ts';
import { createRandom, type Random } from '../numeric/random.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type CapabilityUse, type UseWeights, useWeight } from './hypergraph.ts';
import type { GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  weights: 'uniform' as UseWeights,
  maxClusters: 20,
  seed: 1,
  /** Up to this many capabilities (or tools, if fewer) all eigenvalues are computed, beyond only the leading. */
  denseSize: 48,
  /** Tolerance of the eigenvalues; gaps between clusters are at least ten times as wide. */
  tolerance: 2e-3,
  /** A gap counts if it is this many times as wide as the median gap. */
  standsOut: 3,
  /** Values that differ by less count as equal. */
  isSame: 1e-6,
  /** A greater resolution gives more and smaller communities. */
  resolution: 1,
  restarts: 8,
  maxIterations: 50,
};

export interface SpectralOptions {
  readonly weights?: UseWeights;
  readonly maxClusters?: number;
}

export interface SpectralClusters {
  readonly count: number;
  /** Cluster of every capability and of every node that a capability uses. */
  readonly of: ReadonlyMap<NodeId, number>;
  /** Singular values of the normalised matrix, greatest first. */
  readonly singularValues: readonly number[];
}

/** The normalised bipartite matrix D₁^-½ B D₂^-½, one entry per use. */
interface Bipartite {
  readonly capabilities: readonly NodeId[];
  readonly tools: readonly NodeId[];
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  readonly values: Float64Array;
}

/**
 * Co-clustering of tools and capabilities: Dhillon, "Co-clustering documents and words using bipartite
 * spectral graph partitioning" (2001). The number of clusters is where the singular values drop most
 * (eigengap, von Luxburg 2007); rows are scaled to length 1 before k-means (Ng, Jordan & Weiss, 2002).
 */
export function spectralClusters(
  uses: readonly CapabilityUse[],
  { weights = DEFAULTS.weights, maxClusters = DEFAULTS.maxClusters }: SpectralOptions = {},
): SpectralClusters {
  const matrix = bipartite(uses, weights);
  const { capabilities, tools } = matrix;
  if (tools.length === 0) return { count: 0, of: new Map(), singularValues: [] };
  const random = createRandom(DEFAULTS.seed);
  const { values, left, right } = singularVectors(matrix, maxClusters + 1, random);
  const count = clusterCount(values, maxClusters);
  const points = new Float64Array((capabilities.length + tools.length) * count);
  points.set(embed(left, capabilities.length, count));
  points.set(embed(right, tools.length, count), capabilities.length * count);
  const labels = inOrderOfAppearance(kMeans(points, count, count, random));
  const of = new Map([...capabilities, ...tools].map((node, i) => [node, labels[i]!]));
  return { count: new Set(labels).size, of, singularValues: values };
}

function bipartite(uses: readonly CapabilityUse[], weights: UseWeights): Bipartite {
  const used = uses.filter(({ calls }) => calls.size > 0);
  const sorted = used.toSorted((a, b) => (a.capability < b.capability ? -1 : 1));
  const tools = [...new Set(sorted.flatMap(({ calls }) => [...calls.keys()]))].sort();
  const index = new Map(tools.map((tool, i) => [tool, i]));
  const entries = sorted.flatMap(({ calls }, row) =>
    [...calls].map(([tool, count]) => ({ row, column: index.get(tool)!, value: useWeight(count, weights) })),
  );
  const rowSums = new Float64Array(sorted.length);
  const columnSums = new Float64Array(tools.length);
  for (const { row, column, value } of entries) {
    rowSums[row]! += value;
    columnSums[column]! += value;
  }
  return {
    capabilities: sorted.map(({ capability }) => capability),
    tools,
    rows: Int32Array.from(entries, ({ row }) => row),
    columns: Int32Array.from(entries, ({ column }) => column),
    values: Float64Array.from(
      entries,
      ({ row, column, value }) => value / Math.sqrt(rowSums[row]! * columnSums[column]!),
    ),
  };
}

/** Computes the vectors of the smaller side and maps them to the other side by the matrix; one per row. */
function singularVectors(matrix: Bipartite, wanted: number, random: Random) {
  const { capabilities, tools, rows, columns, values: entries } = matrix;
  const isTall = capabilities.length > tools.length;
  const [small, large] = isTall ? [tools.length, capabilities.length] : [capabilities.length, tools.length];
  const [here, there] = isTall ? [columns, rows] : [rows, columns];
  const across = (vector: Float64Array, from: Int32Array, to: Int32Array, product: Float64Array) => {
    product.fill(0);
    for (let i = 0; i < entries.length; i++) product[to[i]!]! += entries[i]! * vector[from[i]!]!;
  };
  const middle = new Float64Array(large);
  const multiply = (vector: Float64Array, product: Float64Array) => {
    across(vector, here, there, middle);
    across(middle, there, here, product);
  };
  const count = Math.min(wanted, small);
  const { values, vectors } =
    small <= DEFAULTS.denseSize
      ? symmetricEigen(denseMatrix(small, multiply), small)
      : leadingEigen(small, count, multiply, random, DEFAULTS.tolerance);

  const found = Array.from({ length: count }, (_, i) => vectors.subarray(i * small, (i + 1) * small));
  const carried = found.map((vector) => {
    across(vector, here, there, middle);
    return middle.slice();
  });
  const singular = Array.from(values.subarray(0, count), (value) => Math.sqrt(Math.max(0, value)));
  const scaled = carried.map((vector, i) => vector.map((value) => value / (singular[i]! || 1)));
  return { values: singular, left: isTall ? scaled : found, right: isTall ? found : scaled };
}

function denseMatrix(
  size: number,
  multiply: (vector: Float64Array, product: Float64Array) => void,
): Float64Array {
  const matrix = new Float64Array(size * size);
  const unit = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    unit[row] = 1;
    multiply(unit, matrix.subarray(row * size, (row + 1) * size));
    unit[row] = 0;
  }
  return matrix;
}

/**
 * The value 1 occurs once per connected component, whatever its structure, so gaps count from the second
 * value on; a gap that is not clearly wider than the usual distance between values does not count.
 */
function clusterCount(values: readonly number[], maxClusters: number): number {
  const parts = Math.min(maxClusters, values.filter((value) => value > 1 - DEFAULTS.isSame).length);
  const gaps = values.slice(1, -1).map((value, i) => ({ k: i + 2, width: value - values[i + 2]! }));
  const usual = gaps.toSorted((a, b) => a.width - b.width)[gaps.length >> 1]?.width ?? 0;
  const widest = gaps
    .filter(({ k }) => k >= parts)
    .reduce((best, gap) => (gap.width > best.width + DEFAULTS.isSame ? gap : best), { k: parts, width: 0 });
  return widest.width > DEFAULTS.standsOut * usual ? widest.k : parts;
}

/** [size x count]: one row per node, scaled to length 1. */
function embed(vectors: readonly Float64Array[], size: number, count: number): Float64Array {
  const points = new Float64Array(size * count);
  for (let node = 0; node < size; node++) {
    let squares = 0;
    for (let c = 0; c < count; c++) squares += vectors[c]![node]! ** 2;
    const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
    for (let c = 0; c < count; c++) points[node * count + c] = vectors[c]![node]! * scale;
  }
  return points;
}

function inOrderOfAppearance(labels: Int32Array): number[] {
  const names = new Map<number, number>();
  return Array.from(labels, (label) => {
    if (!names.has(label)) names.set(label, names.size);
    return names.get(label)!;
  });
}

// Its types declare a default export; under Node's handling of CommonJS, that is the module itself.
const louvain = louvainModule as unknown as typeof louvainModule.default;

/**
 * Blondel et al., "Fast unfolding of communities in large networks" (2008), by graphology, on the weights
 * between neighbours. Numbered by size, 0 the largest; ties by first id. A node without neighbours is its
 * own community.
 */
export function communities(snapshot: GraphSnapshot): Map<NodeId, number> {
  const graph = new UndirectedGraph();
  const { offsets, columns, values, rows } = snapshot.undirected();
  for (let node = 0; node < rows; node++) graph.addNode(node);
  for (let node = 0; node < rows; node++) {
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) {
      const weight = values[entry]!;
      if (columns[entry]! > node) graph.addUndirectedEdge(node, columns[entry]!, { weight });
    }
  }
  const { seed, resolution } = DEFAULTS;
  const labels = graph.size > 0 ? louvain(graph, { rng: createRandom(seed).next, resolution }) : {};
  const groups = Map.groupBy(snapshot.nodes.keys(), (node) => labels[node] ?? `alone ${node}`);
  // Groups come in order of their first node, and sorting is stable.
  const bySize = [...groups.values()].sort((a, b) => b.length - a.length);
  return new Map(bySize.flatMap((group, i) => group.map((node) => [snapshot.nodes[node]!, i] as const)));
}

/**
 * Lloyd's k-means, started by k-means++ (Arthur & Vassilvitskii, 2007); the best of several starts.
 * `points` is [rows x columns], row-major. Returns the cluster of each row.
 */
function kMeans(points: Float64Array, columns: number, k: number, random: Random): Int32Array {
  let best = { labels: new Int32Array(points.length / columns), error: Number.POSITIVE_INFINITY };
  for (let start = 0; start < DEFAULTS.restarts; start++) {
    const found = settle(points, columns, startingCentres(points, columns, k, random));
    if (found.error < best.error) best = found;
  }
  return best.labels;
}

function settle(points: Float64Array, columns: number, centres: Float64Array) {
  const rows = points.length / columns;
  const k = centres.length / columns;
  const labels = new Int32Array(rows);
  let error = Number.POSITIVE_INFINITY;
  for (let iteration = 0; iteration < DEFAULTS.maxIterations; iteration++) {
    let nextError = 0;
    for (let row = 0; row < rows; row++) {
      let least = Number.POSITIVE_INFINITY;
      for (let centre = 0; centre < k; centre++) {
        const distance = squaredDistance(points, row, centres, centre, columns);
        if (distance >= least) continue;
        least = distance;
        labels[row] = centre;
      }
      nextError += least;
    }
    if (nextError >= error) break;
    error = nextError;
    moveCentres(points, columns, labels, centres);
  }
  return { labels, error };
}

/** Moves each centre to the mean of its points; a centre without points stays. */
function moveCentres(points: Float64Array, columns: number, labels: Int32Array, centres: Float64Array): void {
  const sums = new Float64Array(centres.length);
  const sizes = new Int32Array(centres.length / columns);
  for (const [row, label] of labels.entries()) {
    sizes[label]!++;
    for (let c = 0; c < columns; c++) sums[label * columns + c]! += points[row * columns + c]!;
  }
  for (const [centre, size] of sizes.entries()) {
    if (size === 0) continue;
    for (let c = 0; c < columns; c++) centres[centre * columns + c] = sums[centre * columns + c]! / size;
  }
}

/** k-means++: draws each next centre in proportion to its squared distance from the existing centres. */
function startingCentres(points: Float64Array, columns: number, k: number, random: Random): Float64Array {
  const rows = points.length / columns;
  const centres = new Float64Array(k * columns);
  const distances = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  let row = random.int(rows);
  for (let centre = 0; centre < k; centre++) {
    centres.set(points.subarray(row * columns, (row + 1) * columns), centre * columns);
    let total = 0;
    for (let i = 0; i < rows; i++) {
      distances[i] = Math.min(distances[i]!, squaredDistance(points, i, centres, centre, columns));
      total += distances[i]!;
    }
    row = draw(distances, random.next() * total);
  }
  return centres;
}

/** First index at which the cumulative sum passes `mark`. */
function draw(values: Float64Array, mark: number): number {
  let left = mark;
  for (const [i, value] of values.entries()) {
    left -= value;
    if (left < 0) return i;
  }
  return values.length - 1;
}

function squaredDistance(a: Float64Array, i: number, b: Float64Array, j: number, columns: number): number {
  let sum = 0;
  for (let c = 0; c < columns; c++) sum += (a[i * columns + c]! - b[j * columns + c]!) ** 2;
  return sum;
}
