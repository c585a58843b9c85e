import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../engine/ports.ts';

const DEFAULTS = { ackMs: 5_000 };

/**
 * The one `subscriptions/listen` stream of a connection of the 2026-07-28 era: there, changes are
 * told on a stream that has to be asked for, and to change what is told a new one is opened.
 */
export class ListenStream {
  readonly #client: Client;
  readonly #onLost: () => void;
  #open: McpSubscription | null = null;
  #uris: readonly string[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: Client, onLost: () => void) {
    this.#client = client;
    this.#onLost = onLost;
  }

  /** Answers which of the resources the server agreed to watch: none when it knows no such stream. */
  watch(uris: readonly string[]): Promise<readonly string[]> {
    this.#uris = uris;
    const next = this.#turn.then(() => this.#replace());
    this.#turn = next;
    return next;
  }

  /** As before, after the stream was lost. */
  async reopen(): Promise<void> {
    await this.watch(this.#uris);
  }

  async #replace(): Promise<readonly string[]> {
    const filter = listenFilter(this.#client.getServerCapabilities() ?? {}, this.#uris);
    const old = this.#open;
    const wanted = Object.keys(filter).length > 0;
    const opened = wanted
      ? await this.#client.listen(filter, { timeout: DEFAULTS.ackMs }).catch(() => null)
      : null;
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
