import { lookAlikes, type MarkKind, type PlacedMark, scanValue } from '../../core/policy/scan-text.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import { estimateTokens, oneLine } from '../../core/vocabulary/text.ts';
import type { Caller } from '../caller.ts';
import { isRestricted, mayReach } from '../people/roles.ts';
import type { LoopFigures } from '../ports/process.ts';
import type { JsonObject, ServerSettings, Settings, Store, UpstreamServer } from '../ports.ts';
import type { EventLog } from '../traces/event-log.ts';
import type { SpeculationFigures } from '../workflow/speculation-memory.ts';
import {
  type AbsentServer,
  type Catalogue,
  catalogueFor,
  type LiveCatalogue,
  MARK_WORDS,
  suspicionsOf,
  warningOf,
} from './catalogue.ts';

const DEFAULTS = {
  /** PML's own tool list and instructions as a model reads them, less the inventory; a test compares. */
  exposedTokens: 930,
  /** Longest inventory line: 25 servers with names of usual length fit. */
  lineLength: 700,
  /** With more servers than this, only their names are told: every session pays for the line. */
  counted: 10,
  /** Suspicions of one server that are told. */
  suspicions: 50,
  /** Servers that are not available which are named, and characters of each reason. */
  broken: 3,
  reasonLength: 120,
};

export interface ServerReport extends UpstreamServer {
  /** Tools in the catalogue, also of servers that do not run now. */
  readonly tools: number;
  /** Tools whose definition changed and waits for a person. */
  readonly changedTools: readonly string[];
  readonly schemaTokens: number;
  readonly suspicions: readonly Suspicion[];
}

/** A text of a server that may be meant to mislead a model or a person. */
export interface Suspicion extends PlacedMark {
  /** Null: of the server itself. */
  readonly tool: string | null;
}

export interface GatewayStats {
  readonly servers: number;
  readonly tools: number;
  readonly capabilities: number;
  readonly traces: number;
  /** About how many tokens the schemas of all tools are, and how many the client sees instead. */
  readonly schemaTokens: number;
  readonly exposedTokens: number;
  readonly sparedTokens: number;
  readonly pendingApprovals: number;
  /** Calls of workflows that ran ahead, and those whose result was used, since the gateway began. */
  readonly speculation: SpeculationFigures;
  /** How often and how long the process stood still. */
  readonly loop: LoopFigures;
}

/** The inventory line in use; told as an event whenever it changes. */
export function openInventory(
  events: Pick<EventLog, 'emit'>,
  settings: () => Settings,
  catalogue: Pick<LiveCatalogue, 'current' | 'onChange' | 'onTrouble' | 'broken'>,
): { current(caller?: Pick<Caller, 'who'>): string } {
  let inventory = '';
  const lineFor = (who?: Principal) => {
    const attached = settings().servers.filter(({ name, disabled }) => !disabled && mayReach(who, name));
    const broken = catalogue.broken().filter(({ name }) => mayReach(who, name));
    return inventoryLine(attached, catalogueFor(catalogue.current(), who?.scope)) + brokenLine(broken);
  };
  const update = () => {
    const line = lineFor();
    if (line === inventory) return;
    inventory = line;
    events.emit({ type: 'inventory_changed', inventory });
  };
  update();
  catalogue.onChange(update);
  catalogue.onTrouble(update);
  return { current: ({ who } = {}) => (who && isRestricted(who) ? lineFor(who) : inventory) };
}

/**
 * `4 servers, 41 tools: filesystem (14), memory (9), …`, in the order of the settings. Nothing that is learned: clients
 * cache the prompt that holds it.
 */
function inventoryLine(servers: readonly ServerSettings[], catalogue: Catalogue): string {
  const counts = new Map<string, number>();
  for (const { tool } of catalogue.entries) counts.set(tool.server, (counts.get(tool.server) ?? 0) + 1);
  if (servers.length === 0) return 'No servers are attached.';
  const isCounted = servers.length <= DEFAULTS.counted;
  const parts = servers.map(({ name }) =>
    isCounted && counts.has(name) ? `${name} (${counts.get(name)})` : name,
  );
  const line = `${count(servers.length, 'server')}, ${count(catalogue.entries.length, 'tool')}: ${parts.join(', ')}`;
  return line.length <= DEFAULTS.lineLength ? line : `${line.slice(0, DEFAULTS.lineLength - 2)} …`;
}

/** Why servers are missing, so that an agent can say so instead of searching on. */
function brokenLine(broken: readonly AbsentServer[]): string {
  if (broken.length === 0) return '';
  const shown = broken.slice(0, DEFAULTS.broken).map(({ name, reason }) => {
    return `${name} (${oneLine(reason, DEFAULTS.reasonLength)})`;
  });
  const more = broken.length > shown.length ? [`${broken.length - shown.length} more`] : [];
  return `. Not available: ${[...shown, ...more].join('; ')}`;
}

function count(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`;
}

/** `words` are the instructions of each server. */
export function serverReports(
  servers: readonly UpstreamServer[],
  catalogue: Catalogue,
  words: ReadonlyMap<string, string | null>,
): ServerReport[] {
  const alike = lookAlikes(
    servers.map(({ name }) => name),
    true,
  );
  const tools = alikeTools(catalogue);
  return servers.map((server) => {
    const entries = catalogue.entries.filter(({ tool }) => tool.server === server.name);
    const like = alike.get(server.name);
    return {
      ...server,
      tools: entries.length,
      changedTools: entries.filter(({ proposed }) => proposed).map(({ tool }) => tool.id),
      schemaTokens: schemaTokens(entries),
      suspicions: [
        ...(like === undefined
          ? []
          : [{ tool: null, kind: LOOK_ALIKE, at: 'name', what: `looks like "${like}"` }]),
        ...scanValue(words.get(server.name) ?? '', 'instructions').map((mark) => ({ ...mark, tool: null })),
        ...entries.flatMap(({ tool, proposed }) =>
          [...suspicionsOf(proposed ?? tool), ...(tools.get(tool.id) ?? [])].map((mark) => ({
            ...mark,
            tool: tool.id,
          })),
        ),
      ].slice(0, DEFAULTS.suspicions),
    };
  });
}

const LOOK_ALIKE: MarkKind = 'look_alike';

const alikeIn = new WeakMap<Catalogue, ReadonlyMap<string, readonly PlacedMark[]>>();

/** Tools whose name looks like that of another server's tool, by id. */
function alikeTools(catalogue: Catalogue): ReadonlyMap<string, readonly PlacedMark[]> {
  const known = alikeIn.get(catalogue);
  if (known) return known;
  const alike = lookAlikes(
    catalogue.entries.map(({ tool }) => tool.name),
    false,
  );
  const byId = new Map(
    catalogue.entries.flatMap(({ tool }) => {
      const like = alike.get(tool.name);
      const isMarked = suspicionsOf(tool).some(({ at }) => at === 'name');
      return like === undefined || isMarked
        ? []
        : [[tool.id, [{ kind: LOOK_ALIKE, at: 'name', what: `looks like "${like}"` }]] as const];
    }),
  );
  alikeIn.set(catalogue, byId);
  return byId;
}

/** For a person: `description with commands to a model: "ignore all previous instructions"`. */
export function suspicionText({ kind, at, what }: PlacedMark): string {
  return kind === LOOK_ALIKE ? `name ${what}` : `${at} with ${MARK_WORDS[kind]}: ${what}`;
}

/** What to say of a text from a server before a model reads it; null: nothing. */
export function warningIn(value: unknown, what: string): string | null {
  const [mark] = scanValue(value);
  return mark ? warningOf(mark, what) : null;
}

/** A result of a tool or a run, with a warning before it where its texts ask for one. */
export function withWarning(result: JsonObject): JsonObject {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const texts = content.map((block) => (block?.type === 'text' ? block.text : block?.resource?.text));
  const warning = warningIn(texts, 'this result');
  return warning === null ? result : { ...result, content: [{ type: 'text', text: warning }, ...content] };
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
  const exposed = DEFAULTS.exposedTokens + estimateTokens(inventory.length);
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

/** What a model would read of these tools if it were attached to their servers directly. */
function schemaTokens(entries: Catalogue['entries']): number {
  const characters = entries.reduce((sum, { tool }) => {
    const { name, description, inputSchema } = tool;
    return sum + JSON.stringify({ name, description, inputSchema }).length;
  }, 0);
  return estimateTokens(characters);
}
