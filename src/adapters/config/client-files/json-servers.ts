import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { removeProperty, setProperty } from '../json-edits.ts';
import { parseSource } from '../source-text.ts';
import type { Entries, Entry, ServersFormat } from './servers.ts';

/** Where most clients keep their servers: an object of a JSON file, comments and all. */
export const jsonServers: ServersFormat = {
  read: readServers,

  change(file, text, path, { remove, set }) {
    let changed = orEmpty(text);
    for (const name of remove) changed = removeProperty(changed, [...path, name]);
    for (const [name, entry] of Object.entries(set)) {
      const present = readServers(file, changed, path)?.[name];
      if (!isObject(present)) {
        changed = setProperty(changed, [...path, name], entry);
        continue;
      }
      // Key by key, so that what else stands in the entry keeps its place.
      for (const [key, value] of Object.entries(entry)) {
        if (canonicalJson(present[key]) !== canonicalJson(value))
          changed = setProperty(changed, [...path, name, key], value);
      }
    }
    return changed;
  },

  graft(file, text, path, original) {
    const source = nodeAt(file, original, path);
    const target = nodeAt(file, text, path);
    if (!source) return removeProperty(text, [...path]);
    if (!target) return setProperty(text, [...path], getNodeValue(source));
    const servers = original.slice(source.offset, source.offset + source.length);
    return text.slice(0, target.offset) + servers + text.slice(target.offset + target.length);
  },
};

function readServers(file: string, text: string, path: readonly string[]): Entries | null {
  const node = nodeAt(file, text, path);
  const value: unknown = node && getNodeValue(node);
  return isObject(value) ? (value as Entries) : null;
}

function nodeAt(file: string, text: string, path: readonly string[]): Node | undefined {
  return findNodeAtLocation(parseSource(file, orEmpty(text)).root, [...path]);
}

/** Editors make the file before they write into it. */
function orEmpty(text: string): string {
  return text.trim() === '' ? '{}\n' : text;
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
