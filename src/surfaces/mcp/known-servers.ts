import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/server/ext/skills';
import type { Gateway } from '../../engine/gateway.ts';
import type { JsonObject, UpstreamEvent } from '../../engine/ports.ts';

const NOBODY = { sessionId: null };

/** What lists over many servers are made of. */
export type Offer = 'resources' | 'prompts' | 'skills';

/** Whether a server with these capabilities has it; skills are an extension. */
export function hasOffer(capabilities: JsonObject | null | undefined, offer: Offer): boolean {
  if (offer !== 'skills') return capabilities?.[offer] !== undefined;
  return (capabilities?.extensions as JsonObject | undefined)?.[SKILLS_EXTENSION_ID] !== undefined;
}

/** The servers and their capabilities, as far as known without starting one. */
export class KnownServers {
  readonly #gateway: Gateway;
  readonly #ready = new Set<string>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  hear(event: UpstreamEvent): void {
    if (event.type !== 'state') return;
    if (event.state === 'ready') this.#ready.add(event.server);
    else this.#ready.delete(event.server);
  }

  /** Enabled servers, in the order of the settings. */
  names(): readonly string[] {
    return this.#gateway
      .settings()
      .servers.filter((server) => !server.disabled)
      .map((server) => server.name);
  }

  ready(): readonly string[] {
    return this.names().filter((name) => this.#ready.has(name));
  }

  /** The capabilities the server declares, now or when it last ran; null if it never ran. */
  async capabilities(server: string): Promise<JsonObject | null> {
    const live = this.#ready.has(server) ? await this.#gateway.identity(server, NOBODY) : null;
    if (live?.ok) return live.value.capabilities;
    return (await this.#declared()).get(server) ?? null;
  }

  /** The servers that have something to offer, and those whose capabilities are unknown. */
  async offering(offer: Offer): Promise<{ offering: readonly string[]; unknown: readonly string[] }> {
    const declared = await this.#declared();
    const names = this.names();
    return {
      offering: names.filter((name) => hasOffer(declared.get(name), offer)),
      unknown: names.filter((name) => !declared.has(name)),
    };
  }

  async #declared(): Promise<Map<string, JsonObject>> {
    const records = await this.#gateway.store.servers.list();
    const declared = new Map(records.map(({ name, identity }) => [name, identity.capabilities]));
    const live = this.ready().map(async (name) => {
      const identity = await this.#gateway.identity(name, NOBODY);
      if (identity.ok) declared.set(name, identity.value.capabilities);
    });
    await Promise.all(live);
    return declared;
  }
}
