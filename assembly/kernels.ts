/** What the module offers; `src/core/numeric/kernels.ts` is its other half. */
export { gemm, gemmPacked } from './gemm';
export { dotRows } from './dot';

/** First byte behind the static buffers: memory from here on belongs to the caller. */
export const heapBase: usize = __heap_base;
