import { rm } from 'node:fs/promises';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { decodeText, readBytes, writeFileWhole } from '../text-file.ts';
import {
  type FileChange,
  hashOf,
  hashServers,
  type JournalFile,
  type JournalRun,
  readJournal,
  refuseIfStale,
  showChanges,
  writeJournal,
} from './file-change.ts';
import type { InitPlan } from './plan-init.ts';
import { SERVERS_FORMATS } from './servers-format.ts';

export interface UndoOptions {
  readonly journal: string;
  /** Restricts the undo to the files of this client, or to this file. */
  readonly from?: string;
}

interface Undo extends FileChange {
  readonly record: JournalFile;
  /** Restores the whole file, or only its servers. */
  readonly whole: boolean;
}

/** Undoes the last init: byte for byte, unless that would lose later changes. */
export async function planUndo({ journal, from }: UndoOptions): Promise<InitPlan> {
  const runs = await readJournal(journal);
  const last = runs.at(-1);
  const records = (last?.files ?? []).filter(
    ({ client, file }) => from === undefined || from === client || from === file,
  );
  if (!last || records.length === 0) {
    throw new PmlError('not_found', 'No "pml init" to undo', {
      hint: `PML looked in ${journal}. If you used another --data folder, use the same one here.`,
    });
  }
  const notes: string[] = [];
  const problems: string[] = [];
  const undos: Undo[] = [];
  // PML's own file last: the clients get their servers back before PML loses them.
  for (const record of records.toReversed()) {
    const outcome = await undoFile(record);
    if (outcome === null) continue;
    if ('problem' in outcome) problems.push(outcome.problem);
    else if ('note' in outcome) notes.push(outcome.note);
    else undos.push(outcome);
  }
  if (problems.length > 0) {
    throw new PmlError('file_changed', problems.join('\n'), {
      hint: 'Nothing was undone. First save what you want to keep somewhere else; the old files are next to the new ones.',
    });
  }
  return {
    changes: showChanges(undos),
    imported: [],
    notes,
    async apply() {
      await refuseIfStale(undos);
      for (const { file, after } of undos) {
        if (after === null) await rm(file);
        else await writeFileWhole(file, after);
      }
      await forget(journal, runs, last, records);
      return undos.map(told);
    },
  };
}

type Outcome = Undo | { readonly problem: string } | { readonly note: string } | null;

async function undoFile(record: JournalFile): Promise<Outcome> {
  const { file, label, format, before, after, backup, places } = record;
  const now = await readBytes(file);
  const hash = now && hashOf(now);
  if (hash === before) return null;
  const original = backup === null ? null : await readBytes(backup);
  if (before !== null && (original === null || hashOf(original) !== before)) {
    return { problem: `The backup of ${file}, ${backup}, is missing or was changed.` };
  }
  const present = now && decodeText(now);
  const change = { record, file, label, format, present };
  if (present === null || hash === after) return { ...change, after: original, whole: true };
  if (places.length === 0) return { note: `${file} was changed later, so it is not restored.` };

  const servers = SERVERS_FORMATS[format];
  const originalText = original ? decodeText(original).text : '';
  const differences = places.flatMap(({ path, servers: left }) =>
    compare(left, hashServers(servers.read(file, present.text, path))),
  );
  if (differences.length > 0) {
    return {
      problem: `${file} was changed later; restoring it would lose: ${differences.join(', ')}.`,
    };
  }
  const grafted = places.reduce(
    (text, { path }) => servers.graft(file, text, path, originalText),
    present.text,
  );
  return { ...change, after: present.encode(grafted), whole: false };
}

/** Describes what has happened to the servers since. */
function compare(then: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): string[] {
  const names = new Set([...Object.keys(then), ...Object.keys(now)]);
  return [...names].flatMap((name) => {
    if (then[name] === now[name]) return [];
    const what = then[name] === undefined ? 'added' : now[name] === undefined ? 'removed' : 'changed';
    return [`"${name}" was ${what}`];
  });
}

/** Deletes backups that equal the restored files. */
async function forget(
  journal: string,
  runs: readonly JournalRun[],
  last: JournalRun,
  undone: readonly JournalFile[],
): Promise<void> {
  const left = last.files.filter((file) => !undone.includes(file));
  await writeJournal(journal, [...runs.slice(0, -1), ...(left.length > 0 ? [{ ...last, files: left }] : [])]);
  for (const { file, backup, before } of undone) {
    const now = await readBytes(file);
    if (backup !== null && now !== null && hashOf(now) === before) await rm(backup, { force: true });
  }
}

function told({ file, after, whole, record }: Undo): string {
  if (after === null) return `Removed ${file}, which "pml init" had created.`;
  if (whole) return `Restored ${file}, byte for byte as it was.`;
  return `Restored the servers of ${file} and kept its other changes. The old file is ${record.backup}.`;
}
