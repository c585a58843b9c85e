import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { resultUri } from '../pass-through/resource-uri.ts';
import { cutAt } from './preview.ts';

const DEFAULTS = {
  /** Of everything kept; the longest unused goes first. */
  bytes: 64 * 1024 * 1024,
  /** Characters of one slice; about what an answer may hold. */
  sliceChars: 16_000,
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

/** Results too large to answer with, readable for a while as `pml://results/<id>`. */
export class KeptResults {
  readonly #results: LRUCache<string, KeptResult>;

  constructor(bytes = DEFAULTS.bytes) {
    // A character of a JavaScript string takes two bytes at most.
    this.#results = new LRUCache({ maxSize: bytes, sizeCalculation: ({ text }) => text.length * 2 + 1 });
  }

  /** Answers the id; null when it is too large even to be kept. */
  keep(result: KeptResult): string | null {
    const id = randomUUID();
    this.#results.set(id, result);
    return this.#results.has(id) ? id : null;
  }

  /** As `resources/read` gives it. */
  contents(id: string): JsonObject {
    const { text, blob, mimeType } = this.#get(id);
    return { uri: resultUri(id), mimeType, ...(blob ? { blob: text } : { text }) };
  }

  /** Characters from `offset` on, for clients that read no resources. */
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
      hint: 'Results are kept for a while only: run the tool again.',
    });
  }
}
