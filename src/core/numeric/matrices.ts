/** Serving uses single precision; gradient checks use double precision. */
export type Floats = Float32Array | Float64Array;

/** Row-major. */
export interface Matrix<F extends Floats = Float32Array> {
  readonly rows: number;
  readonly columns: number;
  readonly values: F;
}

export function matrixOf(vectors: readonly Float32Array[], columns: number): Matrix {
  const values = new Float32Array(vectors.length * columns);
  for (const [row, vector] of vectors.entries()) values.set(vector, row * columns);
  return { rows: vectors.length, columns, values };
}

/** A view of one row. */
export function rowOf<F extends Floats>({ columns, values }: Matrix<F>, row: number): F {
  return values.subarray(row * columns, (row + 1) * columns) as F;
}

/** Matrix products in one precision. */
export interface Multiplier<F extends Floats = Float32Array> {
  /** Zeros, in this precision. */
  floats(length: number): F;
  /** A[m x k] B[n x k]^T: the dot products of all rows. */
  timesTransposed(a: Matrix<F>, b: Matrix<F>): Matrix<F>;
  /** A[m x k] B[k x n] */
  times(a: Matrix<F>, b: Matrix<F>): Matrix<F>;
  /** A[k x m]^T B[k x n] */
  transposedTimes(a: Matrix<F>, b: Matrix<F>): Matrix<F>;
}

/** Plain loops in double precision: gradients are checked with them, and kernels are timed against them. */
export class PlainMultiplier implements Multiplier<Floats> {
  floats(length: number): Float64Array {
    return new Float64Array(length);
  }

  timesTransposed(a: Matrix<Floats>, b: Matrix<Floats>): Matrix<Float64Array> {
    return product(a, b, [a.rows, a.columns, 1], [b.rows, 1, b.columns], a.columns);
  }

  times(a: Matrix<Floats>, b: Matrix<Floats>): Matrix<Float64Array> {
    return product(a, b, [a.rows, a.columns, 1], [b.columns, b.columns, 1], a.columns);
  }

  transposedTimes(a: Matrix<Floats>, b: Matrix<Floats>): Matrix<Float64Array> {
    return product(a, b, [a.columns, 1, a.columns], [b.columns, b.columns, 1], a.rows);
  }
}

/** Size, then the stride of the outer dimension, then the stride of the summed dimension (left) or columns (right). */
type Strides = readonly [size: number, first: number, second: number];

function product(
  { values: a }: Matrix<Floats>,
  { values: b }: Matrix<Floats>,
  [rows, aRow, aDepth]: Strides,
  [columns, bDepth, bColumn]: Strides,
  depth: number,
): Matrix<Float64Array> {
  const values = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let p = 0; p < depth; p++) {
      const left = a[i * aRow + p * aDepth]!;
      for (let j = 0; j < columns; j++) values[i * columns + j]! += left * b[p * bDepth + j * bColumn]!;
    }
  }
  return { rows, columns, values };
}

/** Dot product of vectors of equal length; for unit vectors, their cosine. */
export function dot<Vector extends Float32Array | Float64Array>(a: Vector, b: Vector): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** log(p / (1 - p)) for a probability between 0 and 1. */
export function logOdds(chance: number): number {
  return Math.log(chance / (1 - chance));
}

/** Probabilities in the ratio of their exponentials; without overflow. */
export function softmax(logits: Floats): Float64Array {
  let highest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > highest) highest = logit;
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Scales a vector to length 1, in place; a vector of length 0 stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const scale = 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * scale;
  return vector;
}

/** Mean and standard deviation; a deviation within rounding error counts as 0. */
export function momentsOf(values: Float64Array): { mean: number; deviation: number } {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i]! - mean) ** 2;
  const deviation = Math.sqrt(squares / values.length);
  // Rounding errors are not a difference between candidates.
  return { mean, deviation: deviation > 1e-12 * Math.max(1, Math.abs(mean)) ? deviation : 0 };
}

/** Scales the values to mean 0 and deviation 1; returns zeros if they are all equal. */
export function standardised(values: ArrayLike<number>): Float64Array {
  const copy = Float64Array.from(values);
  const mean = copy.reduce((sum, value) => sum + value, 0) / copy.length;
  const variance = copy.reduce((sum, value) => sum + (value - mean) ** 2, 0) / copy.length;
  const scale = variance > 1e-18 ? 1 / Math.sqrt(variance) : 0;
  return copy.map((value) => (value - mean) * scale);
}

/** Byte offset into a module's memory. */
export type Pointer = number;

/** The used part of WebAssembly.Memory, which neither lib.esnext nor @types/node declares. */
export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
  /** Absent where the size is fixed. */
  grow?(pages: number): number;
}

const PAGE = 65_536;
/** Bytes of one vector register; every block starts at a multiple of this. */
const ALIGNMENT = 16;

/**
 * Bump allocation in a module's memory: blocks are allocated end to end and released in reverse
 * order, by `release(mark)`. Blocks whose size is a multiple of 16 bytes are contiguous.
 */
export class Arena {
  readonly #memory: WasmMemory;
  #top: Pointer;

  constructor(memory: WasmMemory, base: Pointer) {
    this.#memory = memory;
    this.#top = align(base);
  }

  /** Allocates `count` floats, with undefined content. */
  floats(count: number): Pointer {
    return this.bytes(count * Float32Array.BYTES_PER_ELEMENT);
  }

  bytes(count: number): Pointer {
    const start = this.#top;
    const top = align(start + count);
    const size = this.#memory.buffer.byteLength;
    if (top > size) this.#grow(top - size);
    this.#top = top;
    return start;
  }

  /** Copies values into a new block. */
  put(values: ArrayLike<number>): Pointer {
    const pointer = this.floats(values.length);
    this.view(pointer, values.length).set(values);
    return pointer;
  }

  /** A view of the memory, valid until the next allocation, which may grow the memory and detach the view. */
  view(pointer: Pointer, length: number): Float32Array {
    return new Float32Array(this.#memory.buffer, pointer, length);
  }

  /** The same for bytes. */
  viewBytes(pointer: Pointer, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  #grow(bytes: number): void {
    const { buffer, grow } = this.#memory;
    if (!grow) throw new RangeError(`A memory of ${buffer.byteLength} bytes cannot grow`);
    // By a quarter at least, so that many small blocks do not each replace the buffer; unused pages cost nothing.
    grow.call(this.#memory, Math.ceil(Math.max(bytes, buffer.byteLength / 4) / PAGE));
  }

  mark(): Pointer {
    return this.#top;
  }

  /** Releases every block allocated since the mark. The memory itself never shrinks. */
  release(mark: Pointer): void {
    this.#top = mark;
  }
}

function align(pointer: Pointer): Pointer {
  return Math.ceil(pointer / ALIGNMENT) * ALIGNMENT;
}
