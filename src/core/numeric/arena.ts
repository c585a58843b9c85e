/** Byte offset into a module's memory. */
export type Pointer = number;

/** The part of WebAssembly.Memory that is used: neither lib.esnext nor @types/node declares it. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE = 65_536;
/** One vector; every block starts on such a boundary. */
const ALIGNMENT = 16;

/**
 * Bump allocation in a module's memory: blocks are laid end to end and given back in reverse
 * order, by `release(mark)`. Blocks whose size is a multiple of 16 bytes are contiguous.
 */
export class Arena {
  readonly #memory: WasmMemory;
  #top: Pointer;

  constructor(memory: WasmMemory, base: Pointer) {
    this.#memory = memory;
    this.#top = align(base);
  }

  /** Room for so many floats; what it holds is undefined. */
  floats(count: number): Pointer {
    return this.bytes(count * Float32Array.BYTES_PER_ELEMENT);
  }

  bytes(count: number): Pointer {
    const start = this.#top;
    const top = align(start + count);
    const size = this.#memory.buffer.byteLength;
    // By a quarter at least, so that many small blocks do not each replace the buffer; unused pages cost nothing.
    if (top > size) this.#memory.grow(Math.ceil(Math.max(top - size, size / 4) / PAGE));
    this.#top = top;
    return start;
  }

  /** Copies values into a new block. */
  put(values: ArrayLike<number>): Pointer {
    const pointer = this.floats(values.length);
    this.view(pointer, values.length).set(values);
    return pointer;
  }

  /** A window on the memory, for use at once: the next allocation may grow the memory and empty it. */
  view(pointer: Pointer, length: number): Float32Array {
    return new Float32Array(this.#memory.buffer, pointer, length);
  }

  /** The same for bytes. */
  viewBytes(pointer: Pointer, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  mark(): Pointer {
    return this.#top;
  }

  /** Gives back every block that was laid since the mark. The memory itself never shrinks. */
  release(mark: Pointer): void {
    this.#top = mark;
  }
}

function align(pointer: Pointer): Pointer {
  return Math.ceil(pointer / ALIGNMENT) * ALIGNMENT;
}
