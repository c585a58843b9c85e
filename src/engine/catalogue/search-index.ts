import { type Bm25Index, createBm25 } from '../../core/retrieval/bm25.ts';
import { createNameIndex, type NameIndex } from '../../core/retrieval/name-index.ts';
import { toolWords } from '../../core/retrieval/tool-text.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { VectorIndex } from '../ports.ts';

/** What search looks into. The parts speak of tools by their place in `tools`, the vectors by id. */
export interface SearchIndex {
  readonly tools: readonly ToolDefinition[];
  /** Of these tools, in the same order. */
  readonly ids: readonly ToolId[];
  readonly lexical: Bm25Index;
  readonly names: NameIndex;
  /** Of those tools that were embedded. */
  readonly vectors: VectorIndex;
}

export function createSearchIndex(tools: readonly ToolDefinition[], vectors: VectorIndex): SearchIndex {
  return {
    tools,
    ids: tools.map(({ id }) => id),
    lexical: createBm25(tools.map(toolWords)),
    names: createNameIndex(tools),
    vectors,
  };
}
