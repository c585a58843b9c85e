import { basename, dirname } from 'node:path';
import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import { nearestName } from '../../core/retrieval/words.ts';
import { propertiesOf } from './source-text.ts';

/** Where MCP clients have their servers: most clients, VS Code's mcp.json, VS Code's settings. */
const CLIENT_SERVERS: readonly JSONPath[] = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['mcp.servers'],
];

export interface ConfigForm {
  /** In PML's own file every key is checked; in a client's file, unknown keys belong to the client. */
  readonly ours: boolean;
  /** Path of the object with the servers; null if there is none. */
  readonly servers: JSONPath | null;
}

/** Ours if it is called pml.json, has a `pml` key or names our schema. */
export function recogniseForm(file: string, root: Node): ConfigForm {
  const schema = findNodeAtLocation(root, ['$schema'])?.value;
  const ours =
    basename(file) === 'pml.json' ||
    findNodeAtLocation(root, ['pml']) !== undefined ||
    (typeof schema === 'string' && schema.endsWith('pml.schema.json'));
  const places = ours ? CLIENT_SERVERS.slice(0, 1) : CLIENT_SERVERS;
  return { ours, servers: places.find((path) => findNodeAtLocation(root, path) !== undefined) ?? null };
}

/** A top-level key that is probably a misspelt `pml`: ignoring it would drop the user's rules. */
export function misspeltPml(root: Node): Node | undefined {
  return propertiesOf(root).find(({ key }) => nearestName(key, ['pml']) !== null)?.keyNode;
}

/** Variables that Cursor and VS Code define for their files; a project's file is in .vscode or .cursor. */
export function clientVariables(file: string, home: string): Record<string, string> {
  const folder = dirname(file);
  const workspace = ['.vscode', '.cursor'].includes(basename(folder)) ? dirname(folder) : folder;
  const separator = process.platform === 'win32' ? '\\' : '/';
  return {
    userHome: home,
    workspaceFolder: workspace,
    workspaceFolderBasename: basename(workspace),
    pathSeparator: separator,
    '/': separator,
  };
}

/** Keys that `fromClientEntry` reads. */
const READ_KEYS = new Set(
  'type command args cwd env url serverUrl httpUrl headers auth oauth disabled enabled tools includeTools excludeTools disabledTools'.split(
    ' ',
  ),
);

/** Whether a part of a client's file concerns PML; errors elsewhere are ignored. */
export function isReadByUs(path: JSONPath, { servers }: ConfigForm): boolean {
  const key = path[(servers?.length ?? 0) + 1];
  return key === undefined || READ_KEYS.has(String(key));
}
