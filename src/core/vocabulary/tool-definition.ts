import type { ToolId } from './ids.ts';

/** What an upstream server says about its own tool: hints that are never enough for safety. */
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
  /** Other fields from the server (title, icons, `_meta`), in its own spelling; absent when there are none. */
  readonly otherFields?: Readonly<Record<string, unknown>>;
  /** Hash of all of the above: approvals are pinned to it, and embeddings are computed again when it changes. */
  readonly definitionHash: string;
}

/** According to its own hints, the tool only reads, or a second call changes nothing more. */
export function mayBeCalledTwice({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
