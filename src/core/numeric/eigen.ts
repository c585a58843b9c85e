import { dot } from './matrices.ts';
import type { Random } from './random.ts';

const DEFAULTS = {
  /** Vectors iterated beyond `count`: the slowest wanted one converges relative to the first that is left out. */
  extra: 6,
  /** Applications of the matrix between two orthonormalisations. */
  powers: 6,
  /** Converged when no wanted eigenvalue changes by more than this, relative to the greatest. */
  tolerance: 1e-4,
  /** Values that have not converged by then lie so close together that their order means nothing. */
  maxRounds: 40,
};

/** Eigenvalues in descending order; row `i` of `vectors` belongs to `values[i]` and has length 1. */
export interface Eigen {
  readonly size: number;
  /** [size] */
  readonly values: Float64Array;
  /** [size x size], row-major */
  readonly vectors: Float64Array;
}

const MAX_SWEEPS = 60;

/**
 * All eigenvalues and eigenvectors of a symmetric matrix ([size x size], row-major; only its lower
 * triangle is read): Householder reduction to a tridiagonal matrix, then implicit QL (Wilkinson & Reinsch,
 * "Handbook for automatic computation II", 1971: tred2 and tql2). Vectors are held as rows throughout, so
 * that each rotation runs along two contiguous rows. O(size^3); equal eigenvalues are allowed.
 */
export function symmetricEigen(matrix: Float64Array, size: number): Eigen {
  const diagonal = new Float64Array(size);
  const beside = new Float64Array(size);
  const basis = reduce(matrix.slice(), size, diagonal, beside);
  diagonalise(basis, size, diagonal, beside);
  const order = [...diagonal.keys()].sort((i, j) => diagonal[j]! - diagonal[i]! || i - j);
  const vectors = new Float64Array(size * size);
  for (const [row, from] of order.entries()) {
    vectors.set(basis.subarray(from * size, (from + 1) * size), row * size);
  }
  return { size, values: Float64Array.from(order, (i) => diagonal[i]!), vectors };
}

/**
 * Householder: `diagonal` and `beside` (entry i couples i - 1 and i) receive the tridiagonal matrix.
 * Returns the orthogonal basis, one vector per row.
 */
function reduce(a: Float64Array, n: number, diagonal: Float64Array, beside: Float64Array): Float64Array {
  /** The reflections' vectors, scaled so that each is I - u uᵀ / h. */
  const reflections: { readonly u: Float64Array; readonly h: number }[] = [];
  const p = new Float64Array(n);
  for (let i = n - 1; i > 0; i--) {
    const row = a.subarray(i * n, i * n + i);
    const u = row.slice();
    let squares = 0;
    for (let k = 0; k < i; k++) squares += u[k]! * u[k]!;
    diagonal[i] = a[i * n + i]!;
    const last = u[i - 1]!;
    // Only the neighbour is nonzero: the row is tridiagonal already.
    if (squares - last * last <= Number.MIN_VALUE) {
      beside[i] = last;
      reflections.push({ u, h: 0 });
      continue;
    }
    const g = last >= 0 ? -Math.sqrt(squares) : Math.sqrt(squares);
    const h = squares - last * g;
    beside[i] = g;
    u[i - 1] = last - g;
    // p = A u / h from the lower triangle, K = uᵀp / 2h, q = p - K u, A -= u qᵀ + q uᵀ.
    p.fill(0, 0, i);
    for (let r = 0; r < i; r++) {
      const start = r * n;
      let sum = a[start + r]! * u[r]!;
      for (let c = 0; c < r; c++) {
        sum += a[start + c]! * u[c]!;
        p[c]! += a[start + c]! * u[r]!;
      }
      p[r]! += sum;
    }
    let k = 0;
    for (let r = 0; r < i; r++) {
      p[r]! /= h;
      k += p[r]! * u[r]!;
    }
    k /= 2 * h;
    for (let r = 0; r < i; r++) p[r]! -= k * u[r]!;
    for (let r = 0; r < i; r++) {
      const start = r * n;
      const [ur, pr] = [u[r]!, p[r]!];
      for (let c = 0; c <= r; c++) a[start + c]! -= ur * p[c]! + pr * u[c]!;
    }
    reflections.push({ u, h });
  }
  if (n > 0) diagonal[0] = a[0]!;
  return accumulate(reflections, n);
}

/** The product of the reflections, transposed. */
function accumulate(
  reflections: readonly { readonly u: Float64Array; readonly h: number }[],
  n: number,
): Float64Array {
  const basis = new Float64Array(n * n);
  for (let i = 0; i < n; i++) basis[i * n + i] = 1;
  for (const { u, h } of reflections.toReversed()) {
    if (h === 0) continue;
    // Outside the leading block, the basis is still the identity.
    for (let r = 0; r < u.length; r++) {
      const start = r * n;
      let dot = 0;
      for (let c = 0; c < u.length; c++) dot += basis[start + c]! * u[c]!;
      dot /= h;
      for (let c = 0; c < u.length; c++) basis[start + c]! -= dot * u[c]!;
    }
  }
  return basis;
}

/** Implicit QL: the tridiagonal matrix becomes diagonal, and the rows of `basis` its eigenvectors. */
function diagonalise(basis: Float64Array, n: number, d: Float64Array, beside: Float64Array): void {
  const e = new Float64Array(n);
  e.set(beside.subarray(1));
  for (let l = 0; l < n; l++) {
    for (let sweep = 0; ; sweep++) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]!) > Number.EPSILON * (Math.abs(d[m]!) + Math.abs(d[m + 1]!))) m++;
      if (m === l) break;
      if (sweep === MAX_SWEEPS) throw new Error('The eigenvalues did not converge');
      let g = (d[l + 1]! - d[l]!) / (2 * e[l]!);
      let r = Math.hypot(g, 1);
      g = d[m]! - d[l]! + e[l]! / (g + (g >= 0 ? r : -r));
      let [s, c, p] = [1, 1, 0];
      let i = m - 1;
      for (; i >= l; i--) {
        const f = s * e[i]!;
        const b = c * e[i]!;
        r = Math.hypot(f, g);
        e[i + 1] = r;
        if (r === 0) {
          d[i + 1]! -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1]! - p;
        const t = (d[i]! - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        rotate(basis, i * n, n, c, s);
      }
      if (r === 0 && i >= l) continue;
      d[l]! -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
}

/** Applies a Givens rotation to the row at `start` and the row after it. */
function rotate(basis: Float64Array, start: number, n: number, c: number, s: number): void {
  for (let k = start; k < start + n; k++) {
    const [upper, lower] = [basis[k]!, basis[k + n]!];
    basis[k + n] = s * upper + c * lower;
    basis[k] = c * upper - s * lower;
  }
}

/** Like `Eigen`, with `count` values and vectors of `size` numbers. */
export interface LeadingEigen {
  readonly values: Float64Array;
  /** [count x size], row-major */
  readonly vectors: Float64Array;
}

/**
 * The `count` greatest eigenvalues of a symmetric, positive semi-definite matrix that is given only as a
 * product with vectors: subspace iteration with Rayleigh-Ritz (Saad, "Numerical methods for large eigenvalue
 * problems", ch. 5). Unlike Lanczos from one vector it finds multiple eigenvalues with their multiplicity.
 */
export function leadingEigen(
  size: number,
  count: number,
  multiply: (vector: Float64Array, product: Float64Array) => void,
  random: Random,
  tolerance: number = DEFAULTS.tolerance,
): LeadingEigen {
  const width = Math.min(size, count + DEFAULTS.extra);
  let rows: Float64Array[] = Array.from({ length: width }, () =>
    Float64Array.from({ length: size }, () => random.normal()),
  );
  let spare: Float64Array[] = rows.map((row) => row.slice());
  let values: Float64Array = new Float64Array(width);
  for (let round = 0; round < DEFAULTS.maxRounds; round++) {
    for (let power = 1; power < DEFAULTS.powers; power++) {
      for (const [i, row] of rows.entries()) multiply(row, spare[i]!);
      [rows, spare] = [spare, rows];
    }
    orthonormalise(rows, random);
    for (const [i, row] of rows.entries()) multiply(row, spare[i]!);
    const ritz = symmetricEigen(gram(rows, spare), width);
    [rows, spare] = [combine(ritz, spare), rows];
    const settled = isSettled(values, ritz.values, count, tolerance);
    values = ritz.values;
    if (settled) break;
  }
  orthonormalise(rows, random);
  const vectors = new Float64Array(Math.min(count, width) * size);
  for (const [i, row] of rows.slice(0, count).entries()) vectors.set(row, i * size);
  return { values: values.slice(0, count), vectors };
}

function isSettled(before: Float64Array, now: Float64Array, count: number, tolerance: number): boolean {
  const limit = tolerance * Math.abs(now[0] ?? 0);
  return now.subarray(0, count).every((value, i) => Math.abs(value - before[i]!) <= limit);
}

/** Entry (i, j) is rowᵢ · productⱼ, for i >= j. */
function gram(rows: readonly Float64Array[], products: readonly Float64Array[]): Float64Array {
  const width = rows.length;
  const entries = new Float64Array(width * width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) entries[i * width + j] = dot(rows[i]!, products[j]!);
  }
  return entries;
}

function combine({ vectors, size: width }: Eigen, rows: readonly Float64Array[]): Float64Array[] {
  return rows.map((_, i) => {
    const sum = new Float64Array(rows[0]!.length);
    for (const [j, row] of rows.entries()) addScaled(sum, row, vectors[i * width + j]!);
    return sum;
  });
}

/**
 * Gram-Schmidt, repeated where the first pass removed most of a row ("twice is enough", Parlett);
 * a row that vanishes is replaced by a random one.
 */
function orthonormalise(rows: readonly Float64Array[], random: Random): void {
  for (const [i, row] of rows.entries()) {
    let length = Math.sqrt(dot(row, row));
    for (let before = Number.POSITIVE_INFINITY; length < before / 2; ) {
      before = length;
      for (let j = 0; j < i; j++) addScaled(row, rows[j]!, -dot(row, rows[j]!));
      length = Math.sqrt(dot(row, row));
      if (length > 1e-10 * before) continue;
      for (let k = 0; k < row.length; k++) row[k] = random.normal();
      [length, before] = [1, Number.POSITIVE_INFINITY];
    }
    for (let k = 0; k < row.length; k++) row[k]! /= length;
  }
}

function addScaled(to: Float64Array, from: Float64Array, scale: number): void {
  for (let k = 0; k < to.length; k++) to[k]! += scale * from[k]!;
}
