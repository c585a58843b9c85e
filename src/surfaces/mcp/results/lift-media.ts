import type { JsonObject } from '../../../engine/ports.ts';

const DEFAULTS = {
  /** Levels of a value that are searched for media. */
  maxDepth: 32,
};

/** A value without its media, and the media as content blocks. */
export interface Lifted {
  readonly value: unknown;
  readonly media: readonly JsonObject[];
}

/**
 * Takes pictures and sounds out of a value, wherever code or a tool put them: as base64 in a text they cost thousands
 * of tokens and show nothing. In their place stands which block of media they are, from 1.
 */
export function liftMedia(value: unknown, known: readonly JsonObject[] = []): Lifted {
  const media = [...known];
  const lifted = lift(value, 0);
  return { value: lifted, media };

  function lift(part: unknown, depth: number): unknown {
    if (typeof part === 'string') {
      const block = blockOfUri(part);
      return block === null ? part : placed(block);
    }
    if (typeof part !== 'object' || part === null || depth > DEFAULTS.maxDepth) return part;
    if (isMedia(part as JsonObject)) return placed(part as JsonObject);
    const entries = Object.entries(part).map(([name, item]) => [name, item, lift(item, depth + 1)] as const);
    // Most values hold no media, and stay as they are.
    if (entries.every(([, item, without]) => item === without)) return part;
    if (Array.isArray(part)) return entries.map(([, , without]) => without);
    return Object.fromEntries(entries.map(([name, , without]) => [name, without]));
  }

  function placed(block: JsonObject): JsonObject {
    const same = media.findIndex((one) => contentOf(one) === contentOf(block));
    if (same < 0) media.push(block);
    const { type, mimeType } = block;
    return {
      type,
      ...(mimeType !== undefined && { mimeType }),
      block: (same < 0 ? media.length - 1 : same) + 1,
    };
  }
}

/** A picture, a sound, or another file in bytes. */
export function isMedia(block: JsonObject): boolean {
  const { type, data, mimeType } = block;
  if (type === 'image' || type === 'audio') return isBase64(data) && typeof mimeType === 'string';
  return type === 'resource' && isBase64((block.resource as JsonObject | null)?.blob);
}

/** Clients refuse a whole answer with a block that is not. */
function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function contentOf(block: JsonObject): unknown {
  return block.data ?? (block.resource as JsonObject | undefined)?.blob;
}

/** The block that a `data:` address stands for. */
function blockOfUri(text: string): JsonObject | null {
  if (!text.startsWith('data:')) return null;
  const [, type, format] = /^data:(image|audio)\/([\w.+-]{1,60});base64,/.exec(text.slice(0, 100)) ?? [];
  if (type === undefined) return null;
  const block = { type, data: text.slice(text.indexOf(',') + 1), mimeType: `${type}/${format}` };
  return isMedia(block) ? block : null;
}
