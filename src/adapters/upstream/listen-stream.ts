import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../engine/ports.ts';

/**
 * The one `subscriptions/listen` stream of a connection of the 2026-07-28 era: there, changes are
 * told on a stream that has to be asked for, and to change what is told a new one is opened.
 */
export class ListenStream {
  readonly #client: Client;
  readonly #onLost: () => void;
  #open: McpSubscription | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: Client, onLost: () => void) {
    this.#client = client;
    this.#onLost = onLost;
  }

  /** Answers which of the resources the server agreed to watch. */
  watch(uris: readonly string[]): Promise<readonly string[]> {
    const next = this.#turn.then(() => this.#replace(uris));
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #replace(uris: readonly string[]): Promise<readonly string[]> {
    const filter = listenFilter(this.#client.getServerCapabilities() ?? {}, uris);
    const old = this.#open;
    this.#open = null;
    const opened = Object.keys(filter).length > 0 ? await this.#client.listen(filter) : null;
    this.#open = opened;
    await old?.close();
    void opened?.closed.then((cause) => {
      if (cause !== 'local' && this.#open === opened) this.#onLost();
    });
    return opened?.honoredFilter.resourceSubscriptions ?? [];
  }
}

function listenFilter(capabilities: JsonObject, uris: readonly string[]) {
  const tells = (feature: string) =>
    (capabilities[feature] as { listChanged?: boolean } | undefined)?.listChanged === true;
  return {
    ...(tells('tools') && { toolsListChanged: true }),
    ...(tells('prompts') && { promptsListChanged: true }),
    ...(tells('resources') && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  };
}
