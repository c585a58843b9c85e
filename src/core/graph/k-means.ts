import type { Random } from '../numeric/random.ts';

const DEFAULTS = { restarts: 8, maxIterations: 50 };

/**
 * Lloyd's k-means, started by k-means++ (Arthur & Vassilvitskii, 2007); the best of several starts.
 * `points` is [rows x columns], row-major. Answers the cluster of each row.
 */
export function kMeans(points: Float64Array, columns: number, k: number, random: Random): Int32Array {
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

/** To the mean of their points; one without points stays. */
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

/** Each next centre is a point drawn in proportion to its squared distance from those there are. */
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

/** The place at which the values before it and its own, added up, pass the mark. */
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
