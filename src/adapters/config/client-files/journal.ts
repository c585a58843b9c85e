import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { readTextFile, writeFileWhole } from '../text-file.ts';
import type { ClientName } from './client-places.ts';
import type { Entries, FileFormat } from './servers-format.ts';

/** A file changed by an init, and what an undo needs. Contains no text of the file. */
export interface JournalFile {
  readonly file: string;
  readonly label: string;
  readonly client: ClientName | null;
  readonly format: FileFormat;
  /** Path of the copy made before the change; null if the file did not exist. */
  readonly backup: string | null;
  /** Hashes of the file before and after; null if the file did not exist. */
  readonly before: string | null;
  readonly after: string;
  /** The changed lists, with a hash of each server left in them. */
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

/** Independent of whitespace and key order, because clients rewrite their files. */
export function hashServers(servers: Entries | null): ServerHashes {
  return Object.fromEntries(
    Object.entries(servers ?? {}).map(([name, entry]) => [name, hashOf(canonicalJson(entry) ?? '')]),
  );
}
