import { ENCODER_BASE64 } from './kernels-bytes.ts';
import type { WasmMemory } from './matrices.ts';
import { type EncoderKernels, ScalarEncoder } from './scalar-encoder.ts';

/** `assembly/encoder.ts`, or the same one number at a time. */
export type EncoderPath = 'simd' | 'scalar';

/** As with the memory: only what is used here, since no library of types declares it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: EncoderKernels };
  readonly Memory: new (limits: {
    readonly initial: number;
    readonly maximum: number;
    readonly shared: true;
  }) => WasmMemory;
  validate(bytes: Uint8Array): boolean;
}

/** Absent where an engine may not compile at run time. */
const wasm = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;

const PAGE = 65_536;
/** As the module declares it. */
const MOST_PAGES = 1024;

/** The fastest that the engine has. */
export function bestEncoder(): EncoderPath {
  return wasm?.validate(Uint8Array.fromBase64(ENCODER_BASE64)) ? 'simd' : 'scalar';
}

/** Of so many bytes; threads can share it. */
export function encoderMemory(bytes: number, path: EncoderPath): WasmMemory {
  const pages = Math.ceil(bytes / PAGE);
  if (pages > MOST_PAGES) throw new RangeError(`${pages} pages of memory, at most ${MOST_PAGES}`);
  if (path === 'scalar' || !wasm) return { buffer: new SharedArrayBuffer(pages * PAGE) };
  return new wasm.Memory({ initial: pages, maximum: MOST_PAGES, shared: true });
}

export function createEncoder(memory: WasmMemory, path: EncoderPath): EncoderKernels {
  if (path === 'scalar' || !wasm) return new ScalarEncoder(memory.buffer);
  const module = new wasm.Module(Uint8Array.fromBase64(ENCODER_BASE64));
  return new wasm.Instance(module, { env: { memory } }).exports;
}
