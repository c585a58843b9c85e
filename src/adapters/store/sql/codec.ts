import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';

/** Sent as text with a cast: `pg` would convert a JS array to a PostgreSQL array. */
export function json(value: unknown): RawBuilder<unknown> {
  return value === undefined || value === null ? sql`null` : sql`${JSON.stringify(value)}::json`;
}

/** PostgreSQL text is well-formed and cannot contain NUL, which is replaced by its visible symbol. */
export function text(value: string): string {
  return value.toWellFormed().replaceAll('\u0000', '\u2400');
}

export function textOrNull(value: string | null): string | null {
  return value === null ? null : text(value);
}

/** Vectors are stored as little-endian float32, 4 bytes per dimension. */
export function vectorToBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

export function bytesToVector(bytes: Uint8Array): Float32Array {
  const copy = new Uint8Array(bytes);
  return new Float32Array(copy.buffer);
}

/** Vectors end to end as float16: there are many, and three digits of a cosine are enough. */
export function vectorsToBytes(vectors: readonly Float32Array[]): Uint8Array {
  const halves = Float16Array.from(vectors.flatMap((vector) => [...vector]));
  return new Uint8Array(halves.buffer);
}

export function bytesToVectors(bytes: Uint8Array, dimension: number): Float32Array[] {
  const halves = new Float16Array(new Uint8Array(bytes).buffer);
  const count = Math.floor(halves.length / dimension);
  return Array.from({ length: count }, (_, i) =>
    Float32Array.from(halves.subarray(i * dimension, (i + 1) * dimension)),
  );
}

/** Rows that are shared or belong to this user. */
export function isVisible(user: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(visibility = 'shared' or owner = ${user})`;
}

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
/** SQLSTATE classes caused by the value, not the store: data exceptions, limits exceeded. */
const REFUSALS = /^(22|54)/;

/**
 * Constraint violations become `store_conflict`, values that no table can hold `store_refused`, and all other
 * errors `store_unavailable`.
 */
export async function guarded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PmlError) throw error;
    const code = (error as { code?: unknown }).code;
    const message = error instanceof Error ? error.message : String(error);
    if (code === UNIQUE_VIOLATION || code === FOREIGN_KEY_VIOLATION) {
      throw new PmlError('store_conflict', `${what}: ${message}`, { cause: error });
    }
    if (typeof code === 'string' && REFUSALS.test(code)) {
      throw new PmlError('store_refused', `${what}: ${message}`, { cause: error });
    }
    throw new PmlError('store_unavailable', `${what}: ${message}`, {
      hint: 'Run "pml doctor" to see the state of the store.',
      cause: error,
    });
  }
}
