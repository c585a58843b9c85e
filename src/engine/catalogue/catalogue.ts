import { matchesAny, matchesAnyCase } from '../../core/policy/decide.ts';
import { successorsOf } from '../../core/retrieval/deprecated-tools.ts';
import { createNameIndex, type NameIndex, nearestName } from '../../core/retrieval/name-index.ts';
import { type Bm25Index, createBm25 } from '../../core/retrieval/text-scores.ts';
import { toolWords } from '../../core/retrieval/words.ts';
import { parseToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { ServerSettings, Settings, Store, VectorIndex } from '../ports.ts';

export interface CatalogueEntry {
  readonly tool: ToolDefinition;
  /** A definition that differs from the accepted one and waits for a person. */
  readonly proposed: ToolDefinition | null;
}

/**
 * The tools as clients see them, in memory: what the store has accepted, less what the settings
 * leave out. Read from the store, so that it is there before any server has started.
 */
export interface Catalogue extends SearchIndex {
  /** In order of id. */
  readonly entries: readonly CatalogueEntry[];
  get(id: ToolId): CatalogueEntry | undefined;
  /** By any spelling; an unknown one is an error that names the nearest. */
  find(text: string): CatalogueEntry;
}

export async function readCatalogue(
  store: Pick<Store, 'tools' | 'embeddings'>,
  settings: Settings,
  model: string,
  emptyIndex: () => VectorIndex,
): Promise<Catalogue> {
  const [tools, proposals, embeddings] = await Promise.all([
    store.tools.list(),
    store.tools.proposed(),
    store.embeddings.list(model),
  ]);
  const servers = new Map(settings.servers.map((server) => [server.name, server]));
  const proposed = new Map(proposals.map((tool) => [tool.id, tool]));
  const entries = tools
    .filter((tool) => isOffered(tool, servers.get(tool.server)))
    .map((tool) => ({ tool, proposed: proposed.get(tool.id) ?? null }));
  const byId = new Map(entries.map((entry) => [entry.tool.id, entry]));
  const vectors = emptyIndex();
  for (const { toolId, definitionHash, vector } of embeddings) {
    if (byId.get(toolId)?.tool.definitionHash === definitionHash) vectors.set(toolId, vector);
  }

  return {
    ...createSearchIndex(
      entries.map(({ tool }) => tool),
      vectors,
    ),
    entries,
    get: (id) => byId.get(id),
    find: (text) => {
      const id = parseToolId(text, servers.keys());
      const entry = byId.get(id);
      if (!entry) throw unknownTool(id, [...byId.keys()]);
      return entry;
    },
  };
}

/** Whether the settings let a tool of this server be seen and called, also one that it does not list. */
export function isOffered({ name }: { readonly name: string }, server: ServerSettings | undefined): boolean {
  if (!server || server.disabled) return false;
  const { include, exclude } = server.tools;
  return matchesAny(include, name) && !exclude.some((glob) => matchesAnyCase(glob, name));
}

function unknownTool(id: ToolId, known: readonly string[]): PmlError {
  const nearest = nearestName(id, known);
  return new PmlError('not_found', `Tool ${id} not found`, {
    hint: nearest ? `Did you mean ${nearest}?` : 'Search for it with pml_search_tools; ids read server:tool.',
  });
}

/** What search looks into. The parts speak of tools by their place in `tools`, the vectors by id. */
export interface SearchIndex {
  readonly tools: readonly ToolDefinition[];
  /** Of these tools, in the same order. */
  readonly ids: readonly ToolId[];
  readonly lexical: Bm25Index;
  readonly names: NameIndex;
  /** Of deprecated tools. */
  readonly successors: ReadonlyMap<number, number>;
  /** Of those tools that were embedded. */
  readonly vectors: VectorIndex;
}

export function createSearchIndex(tools: readonly ToolDefinition[], vectors: VectorIndex): SearchIndex {
  return {
    tools,
    ids: tools.map(({ id }) => id),
    lexical: createBm25(tools.map(toolWords)),
    names: createNameIndex(tools),
    successors: successorsOf(tools),
    vectors,
  };
}

/** Also for the surfaces: what somebody meant is guessed in one way everywhere. */
export { nearestName } from '../../core/retrieval/name-index.ts';
