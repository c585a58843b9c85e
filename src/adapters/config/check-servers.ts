import type { JSONPath } from 'jsonc-parser';
import { isServerName } from '../../core/vocabulary/ids.ts';
import type { ConfigProblems } from './config-problems.ts';
import { locate, locateKey, type SourceText } from './source-text.ts';

const STDIO_ONLY = ['args', 'env', 'cwd'];
const HTTP_ONLY = ['headers', 'auth'];
const NEEDED_BY_TYPE: ReadonlyMap<unknown, string> = new Map([
  ['stdio', 'command'],
  ['http', 'url'],
  ['sse', 'url'],
  ['streamable-http', 'url'],
]);

const BAD_NAME =
  'cannot name a server; use letters, digits, "_", "-" and "." (the names "code" and "capability" are taken)';

interface ServerCheck {
  /** Where the servers stand in the file. */
  readonly path: JSONPath;
  readonly source: SourceText;
  readonly problems: ConfigProblems;
  /** Servers with an unknown key: it may be the `command` that seems to be missing. */
  readonly misspelt: ReadonlySet<PropertyKey | undefined>;
}

/** What a schema cannot say well: names, and what fits together within one server. */
export function checkServers(
  entries: Readonly<Record<string, unknown>>,
  { path, source, problems, misspelt }: ServerCheck,
): void {
  for (const [name, entry] of Object.entries(entries)) {
    const here = [...path, name];
    if (!isServerName(name)) {
      problems.add(locateKey(source, here), here, BAD_NAME);
    }
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) continue;
    for (const { key, message } of contradictions(entry as Record<string, unknown>)) {
      if (key === null && misspelt.has(name)) continue;
      if (key === null) problems.add(locate(source, here), here, message);
      else problems.add(locateKey(source, [...here, key]), [...here, key], message);
    }
  }
}

/** `key` is the one to blame; null for the server as a whole. */
function contradictions(entry: Record<string, unknown>): { key: string | null; message: string }[] {
  const has = (key: string) => entry[key] !== undefined;
  if (has('command') && has('url')) {
    return [{ key: 'url', message: 'cannot stand beside "command"; keep one of them' }];
  }
  if (!has('command') && !has('url')) {
    return [{ key: null, message: 'needs "command" (a program to start) or "url" (a server to reach)' }];
  }
  const found: { key: string; message: string }[] = [];
  const [stray, owner] = has('command') ? [HTTP_ONLY, 'url'] : [STDIO_ONLY, 'command'];
  for (const key of stray.filter(has)) found.push({ key, message: `is only for servers with "${owner}"` });
  const needed = NEEDED_BY_TYPE.get(entry.type);
  if (needed !== undefined && !has(needed)) {
    found.push({ key: 'type', message: `is for servers with "${needed}"; leave it out, or mend it` });
  }
  const headers = Object.keys(Object(entry.headers)).map((header) => header.toLowerCase());
  if (has('auth') && headers.includes('authorization')) {
    found.push({ key: 'auth', message: 'and an Authorization header exclude each other; keep one of them' });
  }
  return found;
}
