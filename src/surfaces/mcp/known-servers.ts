import type { Gateway } from '../../engine/gateway.ts';
import type { JsonObject, UpstreamEvent } from '../../engine/ports.ts';

const NOBODY = { sessionId: null };

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

  /** The servers that have `capability`, and those whose capabilities are unknown. */
  async offering(capability: string): Promise<{ offering: readonly string[]; unknown: readonly string[] }> {
    const declared = await this.#declared();
    const names = this.names();
    return {
      offering: names.filter((name) => declared.get(name)?.[capability] !== undefined),
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
