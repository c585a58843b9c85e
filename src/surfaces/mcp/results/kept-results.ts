import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { resultUri } from '../pass-through/resource-uri.ts';

const DEFAULTS = {
  /** Bytes of all results; the least recently used is dropped first. */
  bytes: 64 * 1024 * 1024,
  /** Characters of one slice, about as many as fit into a response. */
  sliceChars: 16_000,
  chars: 4_000,
  /** Share of a preview for the beginning, which is more informative than the end. */
  headShare: 0.75,
};

export interface KeptResult {
  readonly text: string;
  /** Base64 instead of text. */
  readonly blob?: boolean;
  readonly mimeType: string;
}

export interface ResultSlice {
  readonly id: string;
  readonly offset: number;
  readonly total_chars: number;
  readonly next_offset: number | null;
  readonly text: string;
}

/** Results too large for a response, readable for a while as `pml://results/<id>`. */
export class KeptResults {
  readonly #results: LRUCache<string, KeptResult>;

  constructor(bytes = DEFAULTS.bytes) {
    // A character of a JavaScript string takes at most two bytes.
    this.#results = new LRUCache({ maxSize: bytes, sizeCalculation: ({ text }) => text.length * 2 + 1 });
  }

  /** Returns the id; null if it is too large to store. */
  keep(result: KeptResult): string | null {
    const id = randomUUID();
    this.#results.set(id, result);
    return this.#results.has(id) ? id : null;
  }

  /** As in the result of `resources/read`. */
  contents(id: string): JsonObject {
    const { text, blob, mimeType } = this.#get(id);
    return { uri: resultUri(id), mimeType, ...(blob ? { blob: text } : { text }) };
  }

  /** The whole result, as a program gets what a tool returns: data where it is data. */
  value(id: string): unknown {
    const { text, mimeType } = this.#get(id);
    return mimeType === 'application/json' ? JSON.parse(text) : text;
  }

  /** Characters from `offset` on, for clients that do not support resources. */
  slice(id: string, offset = 0, limit = DEFAULTS.sliceChars): ResultSlice {
    const { text } = this.#get(id);
    const from = cutAt(text, Math.min(offset, text.length));
    const to = cutAt(text, Math.min(from + Math.min(limit, DEFAULTS.sliceChars), text.length));
    const next_offset = to < text.length ? to : null;
    return { id, offset: from, total_chars: text.length, next_offset, text: text.slice(from, to) };
  }

  #get(id: string): KeptResult {
    const kept = this.#results.get(id);
    if (kept) return kept;
    throw new PmlError('not_found', `Result "${id}" not found`, {
      hint: 'Results are stored only for a while: run the tool again.',
    });
  }
}

export interface Preview {
  readonly head: string;
  readonly tail: string;
  readonly omittedChars: number;
}

/** Beginning and end of a long text, without splitting characters. */
export function previewOf(text: string, most = DEFAULTS.chars): Preview {
  const chars = Math.min(most, DEFAULTS.chars);
  if (text.length <= chars) return { head: text, tail: '', omittedChars: 0 };
  const headChars = Math.floor(chars * DEFAULTS.headShare);
  const tailChars = chars - headChars;
  const head = text.slice(0, cutAt(text, headChars));
  const tail = text.slice(cutAt(text, text.length - tailChars));
  return { head, tail, omittedChars: text.length - head.length - tail.length };
}

/** `index`, or one less if it would split a surrogate pair. */
export function cutAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
  return isSecondHalf && index > 0 ? index - 1 : index;
}
