import type { Gateway } from '../../engine/gateway.ts';
import type { JsonObject, UpstreamEvent } from '../../engine/ports.ts';

const MARK = '"x-mcp-header"';

/**
 * Tools of a server with arguments that 2026-07-28 clients mirror in HTTP headers (SEP-2243), which must
 * match.
 */
export class MirroredArguments {
  readonly #gateway: Gateway;
  readonly #server: string;
  #schemas: Promise<ReadonlyMap<string, JsonObject>> | null = null;

  constructor(gateway: Gateway, server: string) {
    this.#gateway = gateway;
    this.#server = server;
  }

  /** The tool's input schema; null if it mirrors no argument. */
  async schemaOf(tool: string): Promise<JsonObject | null> {
    this.#schemas ??= this.#read();
    return (await this.#schemas).get(tool) ?? null;
  }

  hear(event: UpstreamEvent): void {
    const isChange = event.type === 'state' || event.method === 'notifications/tools/list_changed';
    if (event.server === this.#server && isChange) this.#schemas = null;
  }

  async #read(): Promise<ReadonlyMap<string, JsonObject>> {
    const tools = await this.#gateway.rawTools(this.#server, { sessionId: null });
    const schemas = (tools.ok ? tools.value : []).map((tool) => [tool.name, tool.inputSchema] as const);
    const mirrored = schemas.filter(([, schema]) => JSON.stringify(schema ?? {}).includes(MARK));
    return new Map(mirrored as [string, JsonObject][]);
  }
}
