import type { JsonObject } from '../../../engine/ports.ts';
import { resultUri } from '../pass-through/resource-uri.ts';
import type { KeptResults } from './kept-results.ts';
import { type Preview, previewOf } from './preview.ts';

const DEFAULTS = {
  /** Bytes of text that an answer may hold; more would flood the model's context. */
  bytes: 32 * 1024,
  /** How much smaller a preview is than what would have been let through. */
  previewShare: 0.25,
};

export interface Shrunk<T> {
  readonly value: T;
  /** Leads to the whole, where something was left out. */
  readonly links: readonly JsonObject[];
}

/** Replaces what is too large by a preview and keeps the whole where it can be read. */
export class Shrink {
  readonly #results: KeptResults;
  readonly #bytes: number;

  constructor(results: KeptResults, bytes = DEFAULTS.bytes) {
    this.#results = results;
    this.#bytes = bytes;
  }

  /** For one of several results that share an answer. */
  shared(by: number): Shrink {
    return by <= 1 ? this : new Shrink(this.#results, Math.floor(this.#bytes / by));
  }

  /** A tool's result: text stays text, data becomes a small object that says where the rest is. */
  value(value: unknown): Shrunk<unknown> {
    if (typeof value === 'string') return this.#text(value, 'text/plain');
    const text = JSON.stringify(value) ?? 'null';
    if (!this.#isLarge(text)) return { value, links: [] };
    const { bytes, id, link } = this.#keep(text, 'application/json');
    const { head, tail } = this.#preview(text);
    const marker = { truncated: true, bytes, preview: { head, tail }, ...whereabouts(id) };
    return { value: marker, links: link };
  }

  /** A block of content; pictures and sound are what they are. */
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
    if (!this.#isLarge(text)) return { value: text, links: [] };
    const { bytes, id, link } = this.#keep(text, mimeType);
    const { head, tail, omittedChars } = this.#preview(text);
    const rest = id === null ? 'the whole is too large to be kept' : howToRead(id);
    const gap = `[… ${omittedChars} of ${text.length} characters (${bytes} bytes in all) left out: ${rest} …]`;
    return { value: `${head}\n${gap}\n${tail}`, links: link };
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
    // A character is one byte at least and three at most, so most texts need no counting.
    if (text.length > this.#bytes) return true;
    return text.length * 3 > this.#bytes && Buffer.byteLength(text) > this.#bytes;
  }
}

function whereabouts(id: string | null): JsonObject {
  return id === null ? {} : { uri: resultUri(id), read_with: howToRead(id) };
}

function howToRead(id: string): string {
  return `read ${resultUri(id)}, or pml_execute with tool "pml:read_result" and arguments {"id": "${id}", "offset": 0}`;
}
