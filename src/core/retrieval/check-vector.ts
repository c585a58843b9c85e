import { PmlError } from '../vocabulary/pml-error.ts';

/** Refuses a vector of another model's dimension, or one that holds NaN or infinity. */
export function checkVector(vector: Float32Array, dimension: number, what: string): void {
  if (vector.length !== dimension) {
    throw new PmlError(
      'invalid_argument',
      `The vector of ${what} has ${vector.length} numbers, the index takes ${dimension}`,
      {
        hint: 'Vectors of different embedding models cannot be compared: embed it with the configured model.',
      },
    );
  }
  if (!vector.every(Number.isFinite)) {
    throw new PmlError('invalid_argument', `The vector of ${what} holds a number that is not finite`);
  }
}
