import type { ToolId } from './ids.ts';

/** What an upstream server says of a tool about itself; hints, never trusted for safety alone. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolDefinition {
  readonly id: ToolId;
  readonly server: string;
  /** The server's own spelling, sent upstream untouched. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: ToolAnnotations;
  /** Whatever else the server says of it (title, icons, `_meta`), in its own spelling; absent when there is nothing. */
  readonly otherFields?: Readonly<Record<string, unknown>>;
  /** Hash of all of the above: what is pinned, and what embeddings hang on. */
  readonly definitionHash: string;
}

/** By its own word: it only reads, or calling it again changes nothing more. */
export function mayBeCalledTwice({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
