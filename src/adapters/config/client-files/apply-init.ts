import { constants, copyFile, realpath } from 'node:fs/promises';
import { decodeText, writeFileWhole } from '../text-file.ts';
import type { ClientName } from './client-places.ts';
import { type FileChange, refuseIfStale } from './file-change.ts';
import { hashOf, hashServers, type JournalFile, readJournal, writeJournal } from './journal.ts';
import { SERVERS_FORMATS } from './servers-format.ts';

/** A change of a client's file, or of PML's own, which has no places. */
export interface InitChange extends FileChange {
  readonly client: ClientName | null;
  readonly places: readonly (readonly string[])[];
  readonly after: Buffer;
}

/**
 * Backups first, then the journal, then the files: wherever this is cut short, an undo finds what it
 * needs. PML's own file comes first among them, so that no server is ever nowhere.
 */
export async function applyInit(
  changes: readonly InitChange[],
  journal: string,
  now: Date,
): Promise<readonly JournalFile[]> {
  if (changes.length === 0) return [];
  await refuseIfStale(changes);
  const files: JournalFile[] = [];
  for (const change of changes) files.push(await backUp(change, now));
  await writeJournal(journal, [...(await readJournal(journal)), { at: now.toISOString(), files }]);
  for (const { file, after } of changes) await writeFileWhole(file, after);
  return files;
}

async function backUp(change: InitChange, now: Date): Promise<JournalFile> {
  const { file, label, client, format, present, after, places } = change;
  const { text } = decodeText(after);
  return {
    file,
    label,
    client,
    format,
    backup: present && (await copyBeside(file, now)),
    before: present && hashOf(present.bytes),
    after: hashOf(after),
    places: places.map((path) => ({
      path,
      servers: hashServers(SERVERS_FORMATS[format].read(file, text, path)),
    })),
  };
}

/** Next to the file itself, under a name that nothing has. */
async function copyBeside(file: string, now: Date): Promise<string> {
  const target = await realpath(file);
  const stamp = now.toISOString().replace(/[-:]|\.\d+Z$/g, '');
  for (let count = 1; ; count++) {
    const backup = `${target}.pml-backup-${stamp}${count === 1 ? '' : `-${count}`}`;
    try {
      await copyFile(target, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
