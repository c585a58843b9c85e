import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { readTextFile, writeFileWhole } from '../text-file.ts';
import type { ClientName } from './client-places.ts';
import type { Entries } from './servers-format.ts';

/** One file that an init changed, with what it takes to change it back. Holds no text of the file. */
export interface JournalFile {
  readonly file: string;
  readonly label: string;
  readonly client: ClientName | null;
  readonly format: 'json' | 'toml';
  /** Copy of the file as it was; null when there was none. */
  readonly backup: string | null;
  /** Hashes of the file before and after; null when there was none. */
  readonly before: string | null;
  readonly after: string;
  /** The lists of servers that were changed, and a hash of each server left in them. */
  readonly places: readonly { readonly path: readonly string[]; readonly servers: ServerHashes }[];
}

export type ServerHashes = Readonly<Record<string, string>>;

export interface JournalRun {
  readonly at: string;
  readonly files: readonly JournalFile[];
}

/** Oldest first. */
export async function readJournal(file: string): Promise<readonly JournalRun[]> {
  const present = await readTextFile(file);
  return present ? (JSON.parse(present.text) as { runs: JournalRun[] }).runs : [];
}

export async function writeJournal(file: string, runs: readonly JournalRun[]): Promise<void> {
  if (runs.length === 0) return await rm(file, { force: true });
  await writeFileWhole(file, Buffer.from(`${JSON.stringify({ runs }, null, 2)}\n`));
}

export function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Whatever the spacing and the order of keys: clients rewrite their files. */
export function hashServers(servers: Entries | null): ServerHashes {
  return Object.fromEntries(
    Object.entries(servers ?? {}).map(([name, entry]) => [name, hashOf(canonicalJson(entry) ?? '')]),
  );
}
