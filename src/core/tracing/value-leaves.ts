import { blockValue } from './block-value.ts';

const DEFAULTS = { maxDepth: 64 };

/** A string or number somewhere in a JSON value. */
export interface Leaf {
  /** `items[0].id`; empty when the value itself is the leaf. */
  readonly path: string;
  /** Numbers as JSON writes them. */
  readonly text: string;
}

/** In document order, the first `limit`. */
export function leavesOf(value: unknown, limit: number): Leaf[] {
  const leaves: Leaf[] = [];
  visit(value, '', 0);
  return leaves;

  function visit(value: unknown, path: string, depth: number): void {
    if (leaves.length >= limit || depth > DEFAULTS.maxDepth) return;
    if (typeof value === 'string' || typeof value === 'number') leaves.push({ path, text: String(value) });
    else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`, depth + 1);
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) visit(item, path + step(key, path), depth + 1);
    }
  }
}

function step(key: string, path: string): string {
  if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return path === '' ? key : `.${key}`;
  return key.includes('"') ? `['${key}']` : `["${key}"]`;
}

/**
 * What a recorded result is to the program that got it: content blocks of MCP (`[{type: 'text', text}]`) are
 * what they say, anything else is as it stands.
 */
export function recordedValue(result: unknown): unknown {
  const isBlocks = Array.isArray(result) && result.length > 0 && result.every(isContentBlock);
  return isBlocks ? blockValue(result) : result;
}

const BLOCK_TYPES = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

function isContentBlock(value: unknown): value is { readonly text?: unknown } {
  return (
    value !== null && typeof value === 'object' && 'type' in value && BLOCK_TYPES.has(value.type as string)
  );
}
