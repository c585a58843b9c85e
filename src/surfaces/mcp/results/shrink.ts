import type { JsonObject } from '../../../engine/ports.ts';
import { resultUri } from '../pass-through/resource-uri.ts';
import { type KeptResults, type Preview, previewOf } from './kept-results.ts';

const DEFAULTS = {
  /** Bytes of text per response; more would flood the model's context. */
  bytes: 32 * 1024,
  /** Size of a preview relative to the limit. */
  previewShare: 0.25,
};

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

  constructor(results: KeptResults, bytes = DEFAULTS.bytes) {
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
