import { dirname, posix, win32 } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { parseSource } from '../source-text.ts';
import { readTextFile } from '../text-file.ts';
import type { Entry } from './client-dialects.ts';
import type { Move } from './client-entries.ts';
import type { ClientPlace, Machine } from './client-places.ts';

/** What a client's settings say about servers, outside the servers' own entries. */
export interface ServerRules {
  /** Whether the client has the server switched off. */
  isOff(name: string): boolean;
  /** What the person should know about the servers that move, one sentence each. */
  notesOn(moves: readonly Move[], own: OwnRules): string[];
}

/** Where PML has its rules, and its names for the servers. */
interface OwnRules {
  readonly target: string;
  readonly nameOf: (move: Move) => string;
}

/** Part of a settings file. */
interface Settings {
  readonly file: string;
  readonly value: unknown;
}

/** Reads the settings next to a list of servers. A file that cannot be read has no rules. */
export async function readRules(place: ClientPlace, machine: Machine): Promise<ServerRules> {
  const settings: Settings[] = [];
  for (const { file, path } of settingsFiles(place, machine)) {
    const root = await readSettings(file);
    const value = path.reduce<unknown>((inner, key) => object(inner)[key], root);
    if (typeof value === 'object' && value !== null) settings.push({ file, value });
  }
  return {
    isOff: (name) => settings.some(({ value }) => isSwitchedOff(object(value), name, place)),
    notesOn: (moves, own) => [
      ...settings.flatMap((each) => permissionNotes(each, moves, place, own)),
      ...approvalNotes(moves, own),
      ...blockedNotes(settings, place),
    ],
  };
}

async function readSettings(file: string): Promise<unknown> {
  try {
    const present = await readTextFile(file);
    return present ? getNodeValue(parseSource(file, present.text).root) : undefined;
  } catch {
    return undefined;
  }
}

function settingsFiles(
  { client, dialect, file, project, format }: ClientPlace,
  { env, home, cwd, platform }: Machine,
): { file: string; path: string[] }[] {
  const { join } = platform === 'win32' ? win32 : posix;
  const whole = (name: string) => ({ file: name, path: [] });
  if (dialect === 'claude-code') {
    const folder = project ?? cwd;
    return [
      whole(join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json')),
      whole(join(folder, '.claude', 'settings.json')),
      whole(join(folder, '.claude', 'settings.local.json')),
      { file: join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'), path: ['projects', folder] },
    ];
  }
  if (client === 'copilot') return [whole(join(dirname(file), 'settings.json'))];
  return format === 'json' ? [whole(file)] : [];
}

/** Claude Code and Copilot list disabled servers; Gemini CLI lists excluded, or the only allowed ones. */
function isSwitchedOff(settings: Entry, name: string, { dialect, project }: ClientPlace): boolean {
  if (dialect === 'claude-code') {
    // Both lists belong to a folder: a server for everywhere stays on elsewhere.
    const lists = project === null ? [] : [settings.disabledMcpjsonServers, settings.disabledMcpServers];
    return lists.some((list) => includes(list, name));
  }
  if (dialect === 'copilot') return includes(settings.disabledMcpServers, name);
  if (dialect !== 'gemini') return false;
  const { allowed, excluded } = object(settings.mcp);
  return includes(excluded, name) || (Array.isArray(allowed) && !includes(allowed, name));
}

/** Gemini CLI starts only the servers on its list, if it has one. */
function blockedNotes(settings: readonly Settings[], { dialect, label }: ClientPlace): string[] {
  if (dialect !== 'gemini') return [];
  return settings.flatMap(({ file, value }) => {
    const { allowed } = object(object(value).mcp);
    if (!Array.isArray(allowed) || includes(allowed, 'pml')) return [];
    return [`${label} starts only the servers under "mcp.allowed" in ${file}: add "pml" there.`];
  });
}

/** A client's rule about tools of one server. */
interface ToolRule {
  readonly written: string;
  /** The same as a rule of PML: a tool id or a glob. */
  readonly rule: string;
  /** Keys that lead to it. */
  readonly path: readonly string[];
}

/** Rules that name a server stop matching when the client no longer has that server. */
function permissionNotes(
  { file, value }: Settings,
  moves: readonly Move[],
  { dialect, label }: ClientPlace,
  { target, nameOf }: OwnRules,
): string[] {
  const read = TOOL_RULES[dialect];
  if (!read) return [];
  const found: ToolRule[] = [];
  walk(value, [], (text, path) => {
    if (!read.isRule(path)) return;
    for (const move of moves) {
      const tool = read.toolOf(text, move.name.replace(/[^\w-]/g, '_'));
      if (tool !== undefined) found.push({ written: text, rule: `${nameOf(move)}:${tool || '*'}`, path });
    }
  });
  const byList = Map.groupBy(found, ({ path }) => path.join('.'));
  return [...byList].map(([path, rules]) => {
    const list = LISTS.find((each) => path.endsWith(each)) ?? LISTS.join(', ');
    return (
      `${label}: ${quoted(rules.map(({ written }) => written))} (${path} in ${file}) no longer ` +
      `${rules.length === 1 ? 'matches' : 'match'}, because ${label} now calls these servers through PML. ` +
      `To keep this, add ${quoted(rules.map(({ rule }) => rule))} under "pml.permissions" (${list}) in ${target}.`
    );
  });
}

const LISTS = ['allow', 'ask', 'deny'];

interface ToolRules {
  /** The tool of `server` that a rule is about, empty for all; undefined if it is about something else. */
  toolOf(text: string, server: string): string | undefined;
  /** Whether a text at this path is a rule. */
  isRule(path: readonly string[]): boolean;
}

const TOOL_RULES: Readonly<Partial<Record<ClientPlace['dialect'], ToolRules>>> = {
  /** `mcp__github`, `mcp__github__*`, `mcp__github__delete_repo` */
  'claude-code': {
    toolOf: (text, server) => (text === `mcp__${server}` ? '' : after(text, `mcp__${server}__`)),
    isRule: ([first]) => first === 'permissions' || first === 'allowedTools',
  },
  /** `mcp:github:delete_repo` */
  zed: {
    toolOf: (text, server) => after(text, `mcp:${server}:`),
    isRule: ([first]) => first === 'agent',
  },
  /** `github_*`, `github_delete_repo` */
  opencode: {
    toolOf: (text, server) => after(text, `${server}_`),
    isRule: (path) => path.includes('permission') || path.includes('tools'),
  },
};

function after(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** Approvals that the client gave by itself, in the entries that move. */
function approvalNotes(moves: readonly Move[], { target, nameOf }: OwnRules): string[] {
  return moves
    .filter(({ approved }) => approved.length > 0)
    .map((move) => {
      const tools = quoted(move.approved.map((tool) => `${nameOf(move)}:${tool}`));
      return (
        `${move.place.label} never asked for ${tools}; PML asks by its own rules. ` +
        `To keep this, add them under "pml.permissions.allow" in ${target}.`
      );
    });
}

/** Calls back for every key and every text, with the keys above it. */
function walk(value: unknown, path: readonly string[], visit: (text: string, path: string[]) => void): void {
  if (typeof value === 'string') visit(value, [...path]);
  else if (Array.isArray(value)) for (const item of value) walk(item, path, visit);
  else {
    for (const [key, item] of Object.entries(object(value))) {
      visit(key, [...path]);
      walk(item, [...path, key], visit);
    }
  }
}

function includes(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name);
}

function object(value: unknown): Entry {
  return typeof value === 'object' && value !== null ? (value as Entry) : {};
}

function quoted(texts: readonly string[]): string {
  return [...new Set(texts)].map((text) => `"${text}"`).join(', ');
}
