import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { resultUri } from '../pass-through/resource-uri.ts';

const DEFAULTS = {
  /** Bytes of text per response; more would flood the model's context. */
  responseBytes: 32 * 1024,
  /** Bytes of all stored results; the least recently used is dropped first. */
  storedBytes: 64 * 1024 * 1024,
  /** Characters of one slice, about as many as fit into a response. */
  sliceChars: 16_000,
  /** Characters of a preview, and its size relative to that of a response. */
  previewChars: 4_000,
  previewShare: 0.25,
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

  constructor(bytes = DEFAULTS.storedBytes) {
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
export function previewOf(text: string, most = DEFAULTS.previewChars): Preview {
  const chars = Math.min(most, DEFAULTS.previewChars);
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

export interface Shrunk<T> {
  readonly value: T;
  /** The same for a model: text as it is, data as JSON. */
  readonly text: string;
  /** Links to the full text, if something was left out. */
  readonly links: readonly JsonObject[];
}

/** Replaces oversized values by a preview and stores the full text for later reads. */
export class Shrink {
  readonly #results: KeptResults;
  readonly #bytes: number;

  constructor(results: KeptResults, bytes = DEFAULTS.responseBytes) {
    this.#results = results;
    this.#bytes = bytes;
  }

  /** For one of several results in the same response. */
  shared(by: number): Shrink {
    return by <= 1 ? this : new Shrink(this.#results, Math.floor(this.#bytes / by));
  }

  /** A tool's result: text stays text, data becomes a small object with a link to the full value. */
  value(value: unknown): Shrunk<unknown> {
    if (typeof value === 'string') return this.#text(value, 'text/plain');
    const text = JSON.stringify(value) ?? 'null';
    if (!this.#isLarge(text)) return { value, text, links: [] };
    const { bytes, id, link } = this.#keep(text, 'application/json');
    const preview = this.#preview(text);
    const { head, tail } = preview;
    const marker = { truncated: true, bytes, preview: { head, tail }, ...whereabouts(id) };
    return { value: marker, text: gapped(preview, text, id), links: link };
  }

  /** All content blocks of a tool: where their texts are too much together, each gets an equal share. */
  blocks(blocks: readonly JsonObject[]): readonly JsonObject[] {
    const texts = blocks.filter(({ type }) => type === 'text');
    const isMuch = texts.length > 1 && this.#isLarge(texts.map(({ text }) => text).join(''));
    const each = isMuch ? this.shared(texts.length) : this;
    return blocks.flatMap((block) => each.block(block));
  }

  /** A content block; images and audio are not changed. */
  block(block: JsonObject): readonly JsonObject[] {
    if (block.type === 'text' && typeof block.text === 'string') {
      const { value, links } = this.#text(block.text, 'text/plain');
      return [{ ...block, text: value }, ...links];
    }
    const resource = block.type === 'resource' ? (block.resource as JsonObject) : null;
    const content = resource?.text ?? resource?.blob;
    if (typeof content !== 'string' || !this.#isLarge(content)) return [block];
    const mimeType = String(resource?.mimeType ?? 'text/plain');
    const { link } = this.#keep(content, mimeType, resource?.blob !== undefined);
    return link.length > 0 ? link : [block];
  }

  #text(text: string, mimeType: string): Shrunk<string> {
    if (!this.#isLarge(text)) return { value: text, text, links: [] };
    const { id, link } = this.#keep(text, mimeType);
    const shown = gapped(this.#preview(text), text, id);
    return { value: shown, text: shown, links: link };
  }

  #keep(text: string, mimeType: string, blob = false) {
    const bytes = Buffer.byteLength(text);
    const id = this.#results.keep({ text, mimeType, blob });
    const link =
      id === null
        ? []
        : [{ type: 'resource_link', uri: resultUri(id), name: `result ${id}`, mimeType, size: bytes }];
    return { bytes, id, link };
  }

  #preview(text: string): Preview {
    return previewOf(text, Math.ceil(this.#bytes * DEFAULTS.previewShare));
  }

  #isLarge(text: string): boolean {
    // A character takes one to three bytes, so most texts need no exact count.
    if (text.length > this.#bytes) return true;
    return text.length * 3 > this.#bytes && Buffer.byteLength(text) > this.#bytes;
  }
}

function gapped({ head, tail, omittedChars }: Preview, whole: string, id: string | null): string {
  const rest = id === null ? 'the full text is too large to store' : howToRead(id);
  const size = `${omittedChars} of ${whole.length} characters (${Buffer.byteLength(whole)} bytes)`;
  return `${head}\n[… ${size} omitted: ${rest} …]\n${tail}`;
}

function whereabouts(id: string | null): JsonObject {
  return id === null ? {} : { uri: resultUri(id), read_with: howToRead(id) };
}

function howToRead(id: string): string {
  return `read ${resultUri(id)}, or pml_execute with tool "pml:read_result" and arguments {"id": "${id}", "offset": 0}`;
}
