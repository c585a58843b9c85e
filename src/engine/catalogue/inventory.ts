import type { CapabilityRegistry } from '../capabilities/capability-registry.ts';
import type { GatewayStats, ServerReport } from '../gateway.ts';
import type { Capability, Settings, Store, UpstreamServer } from '../ports.ts';
import type { EventLog } from '../traces/event-log.ts';
import type { Catalogue } from './catalogue.ts';
import type { LiveCatalogue } from './live-catalogue.ts';

const DEFAULTS = {
  /** A rule of thumb for JSON in today's tokenizers. */
  charactersPerToken: 4,
  /** PML's own tool list and instructions as a client reads them, less the inventory in both. */
  exposedCharacters: 4_800,
  /** Longest inventory line: 25 servers with names of usual length fit. */
  lineLength: 700,
};

/** The inventory line in use; told as an event whenever it changes. */
export function openInventory(
  events: Pick<EventLog, 'emit'>,
  settings: () => Settings,
  catalogue: Pick<LiveCatalogue, 'current' | 'onChange'>,
  capabilities: Pick<CapabilityRegistry, 'all' | 'onChange'>,
): { current(): string } {
  let inventory = '';
  const update = () => {
    const line = inventoryLine(settings(), catalogue.current(), capabilities.all());
    if (line === inventory) return;
    inventory = line;
    events.emit({ type: 'inventory_changed', inventory });
  };
  update();
  catalogue.onChange(update);
  capabilities.onChange(update);
  return { current: () => inventory };
}

/**
 * `4 servers, 41 tools: filesystem (14), memory (9), …`, in the order of the settings; then the
 * capabilities that may be called.
 */
function inventoryLine(
  settings: Settings,
  catalogue: Catalogue,
  capabilities: readonly Capability[],
): string {
  const counts = new Map<string, number>();
  for (const { tool } of catalogue.entries) counts.set(tool.server, (counts.get(tool.server) ?? 0) + 1);
  const servers = settings.servers.filter((server) => !server.disabled);
  if (servers.length === 0) return 'No servers are attached.';
  const parts = servers.map(({ name }) => (counts.has(name) ? `${name} (${counts.get(name)})` : name));
  const learned = capabilities.filter(({ state }) => state === 'active').map(({ slug }) => slug);
  const line = [
    `${count(servers.length, 'server')}, ${count(catalogue.entries.length, 'tool')}: ${parts.join(', ')}`,
    ...(learned.length > 0 ? [`${learned.length} learned: ${learned.join(', ')}`] : []),
  ].join('; ');
  return line.length <= DEFAULTS.lineLength ? line : `${line.slice(0, DEFAULTS.lineLength - 2)} …`;
}

function count(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`;
}

export function serverReports(servers: readonly UpstreamServer[], catalogue: Catalogue): ServerReport[] {
  return servers.map((server) => {
    const entries = catalogue.entries.filter(({ tool }) => tool.server === server.name);
    return {
      ...server,
      tools: entries.length,
      changedTools: entries.filter(({ proposed }) => proposed).map(({ tool }) => tool.id),
      schemaTokens: schemaTokens(entries),
    };
  });
}

export async function statsOf(
  store: Store,
  catalogue: Catalogue,
  settings: Settings,
  inventory: string,
  { speculation, loop }: Pick<GatewayStats, 'speculation' | 'loop'>,
): Promise<GatewayStats> {
  const [traces, capabilities, pending] = await Promise.all([
    store.traces.count(),
    store.capabilities.list(),
    store.approvals.list({ state: 'pending' }),
  ]);
  const all = schemaTokens(catalogue.entries);
  const exposed = Math.ceil(
    (DEFAULTS.exposedCharacters + 2 * inventory.length) / DEFAULTS.charactersPerToken,
  );
  return {
    servers: settings.servers.filter((server) => !server.disabled).length,
    tools: catalogue.entries.length,
    capabilities: capabilities.length,
    traces,
    schemaTokens: all,
    exposedTokens: exposed,
    sparedTokens: Math.max(0, all - exposed),
    pendingApprovals: pending.length,
    speculation,
    loop,
  };
}

/** What a client would read of these tools if it were attached to their servers directly. */
function schemaTokens(entries: Catalogue['entries']): number {
  const characters = entries.reduce((sum, { tool }) => {
    const { name, description, inputSchema, outputSchema, annotations } = tool;
    return sum + JSON.stringify({ name, description, inputSchema, outputSchema, annotations }).length;
  }, 0);
  return Math.ceil(characters / DEFAULTS.charactersPerToken);
}
