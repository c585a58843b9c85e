/**
 * The module of the embedding model; `src/core/numeric/encoder.ts` is its other half. Its memory is given to it and has
 * no buffers of its own, so that several threads can work on one copy of the weights.
 */
export { attend } from './attention';
export { add, gelu, layerNormRows, softmaxRow } from './elementwise';
export { gemmInt8, packInt8, quantiseRows } from './int8';
