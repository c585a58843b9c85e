import { dot } from './dot.ts';
import { type Eigen, symmetricEigen } from './eigen.ts';
import type { Random } from './random.ts';

const DEFAULTS = {
  /** Vectors carried beyond those asked for: the slower ones converge against the first that is left out. */
  extra: 6,
  /** Applications of the matrix between two orthonormalisations. */
  powers: 6,
  /** Greatest change of an eigenvalue asked for, relative to the greatest, at which it is done. */
  tolerance: 1e-4,
  /** Values that have not settled then lie so close together that their order says nothing. */
  maxRounds: 40,
};

/** Like `Eigen`, with `count` values and vectors of `size` numbers. */
export interface LeadingEigen {
  readonly values: Float64Array;
  /** [count x size], row-major */
  readonly vectors: Float64Array;
}

/**
 * The `count` greatest eigenvalues of a symmetric, positive semi-definite matrix that is only ever
 * multiplied: subspace iteration with Rayleigh-Ritz (Saad, "Numerical methods for large eigenvalue
 * problems", ch. 5). Unlike Lanczos from one vector it finds equal eigenvalues as often as they occur.
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
 * Gram-Schmidt, a second time where the first took most of a row away ("twice is enough", Parlett);
 * a row that vanishes is drawn anew.
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
