import { toolText } from '../../core/retrieval/words.ts';
import { parseToolId, splitToolId } from '../../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { ToolCall } from '../gateway.ts';
import type { Embedder, ServerSettings, Settings, Store } from '../ports.ts';
import { type Catalogue, type CatalogueEntry, isOffered, readCatalogue } from './catalogue.ts';
import { refreshCatalogue, settingsHash } from './refresh-catalogue.ts';

const DEFAULTS = {
  /** Definitions embedded and stored at a time: what is lost when the process ends meanwhile. */
  batch: 64,
};

/** Stands for the definition of a tool that its server does not list. */
export const UNLISTED = 'unlisted';

/** The catalogue in use, kept current while servers come, change and go. */
export interface LiveCatalogue {
  current(): Catalogue;
  /** Told whenever it was read again. */
  onChange(listener: (catalogue: Catalogue) => void): void;
  /** Reads it again from the store. */
  reread(): Promise<void>;
  /** Lists a server's tools again; concurrent callers share one listing. */
  refresh(server: string): Promise<void>;
  /** Lists, in the background, the servers whose tools are not known yet. */
  fillIn(): Promise<void>;
  find(call: ToolCall): Promise<CatalogueEntry>;
  /** A person has approved a changed definition. */
  accept(definition: ToolDefinition): Promise<void>;
}

export async function openLiveCatalogue(
  ports: FlowPorts,
  background: Background,
  settings: () => Settings,
): Promise<LiveCatalogue> {
  const { store, embedder, emptyIndex, crypto, events, logger } = ports;
  const refreshing = new Map<string, Promise<void>>();
  const refreshed = new Set<string>();
  let catalogue = await readCatalogue(store, settings(), embedder.model, emptyIndex);

  const listeners: ((catalogue: Catalogue) => void)[] = [];
  const reread = async () => {
    catalogue = await readCatalogue(store, settings(), embedder.model, emptyIndex);
    for (const tell of listeners) tell(catalogue);
  };
  // One at a time: tools that come meanwhile are embedded by one more round, not by a second one beside it.
  let isEmbedding = false;
  let isAsked = false;
  const embedNew = () => {
    isAsked = true;
    if (isEmbedding) return;
    isEmbedding = true;
    background.run('Embedding tool definitions', async (signal) => {
      try {
        while (isAsked) {
          isAsked = false;
          const { embedded } = await embedCatalogue({ store, embedder, signal });
          if (embedded === 0) continue;
          await reread();
          const { entries, vectors } = catalogue;
          const counts = { embedded, by_meaning: vectors.size, tools: entries.length };
          events.emit({ type: 'tools_embedded', ...counts });
        }
      } finally {
        isEmbedding = false;
      }
    });
  };
  const isRead = (server: string) => catalogue.entries.some(({ tool }) => tool.server === server);
  const serverOf = (name: string): ServerSettings | undefined =>
    settings().servers.find((server) => server.name === name && !server.disabled);

  const refresh = (name: string): Promise<void> => {
    const underWay = refreshing.get(name);
    if (underWay) return underWay;
    const work = (async () => {
      const server = serverOf(name);
      if (!server) return;
      const changed = await refreshCatalogue(ports, server);
      refreshed.add(name);
      // On a store of many, another gateway may have listed the same tools meanwhile.
      if (!changed && isRead(name)) return;
      await reread();
      embedNew();
    })().finally(() => refreshing.delete(name));
    refreshing.set(name, work);
    return work;
  };

  return {
    current: () => catalogue,
    onChange: (listener) => void listeners.push(listener),
    reread,
    refresh,

    async fillIn() {
      const known = new Map((await store.servers.list()).map((record) => [record.name, record]));
      if (settings().servers.some(({ name, disabled }) => !disabled && known.has(name) && !isRead(name))) {
        await reread();
      }
      for (const server of settings().servers) {
        if (server.disabled || known.get(server.name)?.settingsHash === settingsHash(server, crypto))
          continue;
        background.run(`Listing the tools of ${server.name}`, () => refresh(server.name));
      }
      const missing = catalogue.entries.length > catalogue.vectors.size;
      if (missing) embedNew();
    },

    async accept(definition) {
      await store.tools.put([definition]);
      await reread();
      embedNew();
    },

    async find(call) {
      const servers = settings().servers.map((server) => server.name);
      const id = parseToolId(call.tool, servers);
      const { server, tool } = splitToolId(id);
      if (!catalogue.get(id) && serverOf(server) && !refreshed.has(server)) {
        logger.log('debug', `Listing the tools of ${server} to find ${id}`);
        await refresh(server);
      }
      const entry = catalogue.get(id);
      if (entry) return entry;
      const isHidden = (await store.tools.get(id)) !== null;
      if (call.evenIfUnlisted && isOffered({ name: tool }, serverOf(server)) && !isHidden) {
        return { tool: unlisted(id, server, tool), proposed: null };
      }
      return catalogue.find(id);
    },
  };
}

/** For a server's own endpoint: what the server does not list is the server's to refuse, under the same policy. */
function unlisted(id: ToolDefinition['id'], server: string, name: string): ToolDefinition {
  return { id, server, name, description: '', inputSchema: { type: 'object' }, definitionHash: UNLISTED };
}

interface EmbedCatalogueOptions {
  readonly store: Pick<Store, 'tools' | 'embeddings'>;
  readonly embedder: Embedder;
  /** Told after each batch. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  readonly signal?: AbortSignal;
}

interface EmbedCatalogueResult {
  /** Definitions that got a vector now. */
  readonly embedded: number;
  /** Definitions whose stored vector still holds. */
  readonly unchanged: number;
}

/**
 * Gives every tool in the store a vector of this model, and embeds only where there is none yet for
 * the definition as it is: new tools, changed definitions, another model.
 */
export async function embedCatalogue(options: EmbedCatalogueOptions): Promise<EmbedCatalogueResult> {
  const { store, embedder, onProgress, signal } = options;
  const [tools, stored] = await Promise.all([store.tools.list(), store.embeddings.list(embedder.model)]);
  const hashes = new Map(stored.map(({ toolId, definitionHash }) => [toolId, definitionHash]));
  const due = tools.filter(({ id, definitionHash }) => hashes.get(id) !== definitionHash);
  let embedded = 0;
  for (let first = 0; first < due.length; first += DEFAULTS.batch) {
    signal?.throwIfAborted();
    const batch = due.slice(first, first + DEFAULTS.batch);
    embedded += await embedBatch(store, embedder, batch);
    onProgress?.({ done: first + batch.length, total: due.length });
  }
  return { embedded, unchanged: tools.length - due.length };
}

/** Tools that went or changed while their batch was embedded are left to the next time. */
async function embedBatch(
  store: EmbedCatalogueOptions['store'],
  embedder: Embedder,
  batch: readonly ToolDefinition[],
): Promise<number> {
  const vectors = await embedder.embed(batch.map(toolText));
  const present = await Promise.all(batch.map(({ id }) => store.tools.get(id)));
  const embeddings = batch.flatMap(({ id, definitionHash }, i) =>
    present[i]?.definitionHash === definitionHash
      ? [{ toolId: id, model: embedder.model, definitionHash, vector: vectors[i]! }]
      : [],
  );
  if (embeddings.length > 0) await store.embeddings.put(embeddings);
  return embeddings.length;
}
