import { basename, dirname } from 'node:path';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { recogniseForm } from '../client-form.ts';
import { parseSource, propertiesOf } from '../source-text.ts';
import { readTextFile } from '../text-file.ts';
import type { Dialect } from './client-dialects.ts';
import { CLIENTS, type ClientPlace } from './client-places.ts';

/** Not the one server of opencode 1 that is called "servers". */
export function isServerMap(node: Node | undefined): boolean {
  return node?.type === 'object' && propertiesOf(node).every(({ value }) => value?.type === 'object');
}

const KNOWN_FORMS =
  '"mcpServers" (Claude, Cursor, Gemini CLI, Windsurf, Cline, Copilot CLI), "servers" (VS Code), "context_servers" (Zed), ' +
  '"mcp" (opencode), [mcp_servers] in TOML (Codex), "extensions" in YAML (goose)';

/** A file outside the clients' folders: its form follows from its keys or, if it is empty, from its name. */
export async function unknownFile(
  file: string,
  written: string,
  known: readonly ClientPlace[],
): Promise<ClientPlace> {
  const present = await readTextFile(file);
  if (!present) {
    throw new PmlError('usage', `"${written}" is neither a client nor a file`, {
      hint: `Known clients: ${CLIENTS.join(', ')}. Give a file by its path.`,
    });
  }
  const form = formOf(file, present.text, known);
  if (form === null) {
    throw new PmlError('usage', `${file} has no list of servers that PML knows`, {
      hint: `PML knows ${KNOWN_FORMS}. Add the one your client reads, even if it is empty, or connect the client by hand: see docs/connect.md.`,
    });
  }
  return {
    client: null,
    label: basename(file),
    file,
    format: 'json',
    dialect: 'common',
    path: ['mcpServers'],
    variables: 'editor',
    ...form,
    project: projectOf(file),
  };
}

type Form = Partial<Pick<ClientPlace, 'format' | 'dialect' | 'path' | 'variables'>>;

function formOf(file: string, text: string, known: readonly ClientPlace[]): Form | null {
  const of = (dialect: Dialect): Form => {
    const { format, path, variables } = known.find((each) => each.dialect === dialect)!;
    return { format, path, variables, dialect };
  };
  if (file.endsWith('.toml')) return of('codex');
  if (/\.ya?ml$/.test(file)) return /^extensions:/m.test(text) ? of('goose') : null;
  if (text.trim() === '') return ofName(file, known, of);
  const { root } = parseSource(file, text);
  const form = recogniseForm(file, root);
  if (form.ours) {
    throw new PmlError('usage', `${file} is PML's own configuration, not a client's`, {
      hint: 'Use it with --config.',
    });
  }
  const isOpencode = basename(file).startsWith('opencode.json');
  if (form.servers !== null && !(isOpencode && form.servers[0] === 'mcp')) {
    const path = form.servers.map(String);
    if (path[0] === 'mcpServers') return basename(file) === '.mcp.json' ? of('claude-code') : { path };
    return { ...of('vscode'), path };
  }
  if (findNodeAtLocation(root, ['context_servers'])) return of('zed');
  const servers = findNodeAtLocation(root, ['mcp']);
  const isNested = isServerMap(findNodeAtLocation(root, ['mcp', 'servers']));
  if (isOpencode && isNested) return { ...of('opencode'), path: ['mcp', 'servers'] };
  if (servers && (isOpencode || isServerMap(servers))) return of('opencode');
  return propertiesOf(root).length === 0 || isOpencode ? ofName(file, known, of) : null;
}

function ofName(file: string, known: readonly ClientPlace[], of: (dialect: Dialect) => Form): Form | null {
  const named = known.filter((each) => basename(each.file) === basename(file));
  const [dialect, ...others] = new Set(named.map((each) => each.dialect));
  if (dialect === undefined || others.length > 0) return null;
  return dialect === 'common' ? {} : of(dialect);
}

function projectOf(file: string): string | null {
  const folder = dirname(file);
  if (basename(file) === '.mcp.json') return folder;
  return ['.vscode', '.cursor', '.codex', '.gemini', '.zed', '.opencode'].includes(basename(folder))
    ? dirname(folder)
    : null;
}
