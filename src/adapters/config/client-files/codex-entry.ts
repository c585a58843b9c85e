import { literal, mapText } from './entry-text.ts';
import type { Entry } from './servers.ts';

/** A table of Codex in the form that other clients write. Its variables stand in keys of their own. */
export function fromCodexEntry(written: Entry): Entry {
  const entry = mapText(written, literal) as Entry;
  const forwarded = Array.isArray(entry.env_vars) ? entry.env_vars.map(variableName) : [];
  const env = {
    ...Object.fromEntries(forwarded.map((name) => [name, variable(name)])),
    ...object(entry.env),
  };
  const fromVariables = Object.entries(object(entry.env_http_headers));
  const headers = {
    ...object(entry.http_headers),
    ...Object.fromEntries(fromVariables.map(([header, name]) => [header, variable(String(name))])),
  };
  return {
    ...Object.fromEntries(['command', 'args', 'cwd', 'url', 'enabled'].flatMap((key) => present(entry, key))),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(typeof entry.bearer_token_env_var === 'string' && {
      auth: { kind: 'bearer', token: variable(entry.bearer_token_env_var) },
    }),
    ...(Array.isArray(entry.enabled_tools) && { includeTools: entry.enabled_tools }),
    ...(Array.isArray(entry.disabled_tools) && { excludeTools: entry.disabled_tools }),
  };
}

/** `"TOKEN"`, or `{ name = "TOKEN", source = "local" }`. */
function variableName(item: unknown): string {
  return String(typeof item === 'object' && item !== null ? (item as Entry).name : item);
}

function variable(name: string): string {
  return `\${${name}}`;
}

function object(value: unknown): Entry {
  return typeof value === 'object' && value !== null ? (value as Entry) : {};
}

function present(entry: Entry, key: string): [string, unknown][] {
  return entry[key] === undefined ? [] : [[key, entry[key]]];
}
