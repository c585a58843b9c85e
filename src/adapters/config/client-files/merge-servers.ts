import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { serverName } from './import-entry.ts';
import type { Move } from './rewire.ts';
import type { Entries, Entry } from './servers.ts';

export interface ServerMerge {
  /** Takes a server in, unless it is there already. */
  add(move: Move): { readonly name: string; readonly isNew: boolean };
  /** What was not there before. */
  readonly added: Entries;
}

/** The servers of several clients in one list: what is the same once, what differs under two names. */
export function mergeServers(present: Entries): ServerMerge {
  const added: Record<string, Entry> = {};
  return {
    added,
    add({ name: written, entry, place: { client } }) {
      const names = candidates(serverName(written), client ?? 'imported');
      for (const name of names) {
        const other = added[name] ?? present[name];
        if (other && !reachesTheSame(other, entry)) continue;
        // Switched off by one client and used by another: it is used.
        if (!other || (added[name]?.disabled && !entry.disabled)) added[name] = entry;
        return { name, isNew: !other };
      }
      throw new Error('There is always one more candidate.');
    },
  };
}

/** github, github-cursor, github-cursor-2, … */
function* candidates(base: string, client: string): Generator<string> {
  yield base;
  yield `${base}-${client}`;
  for (let count = 2; ; count++) yield `${base}-${client}-${count}`;
}

/** Limits and being switched off are how a server is used, not which one it is. */
function reachesTheSame(a: Entry, b: Entry): boolean {
  return canonicalJson(reachOf(a)) === canonicalJson(reachOf(b));
}

function reachOf({ command, args, env, cwd, url, headers, auth, type }: Entry): unknown {
  return [command, args ?? [], env ?? {}, cwd, url, headers ?? {}, auth, type === 'sse'];
}
