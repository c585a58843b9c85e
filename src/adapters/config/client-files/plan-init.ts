import { constants, copyFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { recogniseForm } from '../client-form.ts';
import { type ConfigSource, dataDir } from '../find-config.ts';
import { setProperty } from '../json-edits.ts';
import { readConfig } from '../read-config.ts';
import { parseSource } from '../source-text.ts';
import { decodeText, readTextFile, type TextFile, writeFileWhole } from '../text-file.ts';
import { type Launch, type Move, mergeServers, rewire } from './client-entries.ts';
import { type ClientName, type ClientPlace, type Machine, selectPlaces } from './client-places.ts';
import { type FileChange, isChange, refuseIfStale, type ShownChange, showChanges } from './file-change.ts';
import { hashOf, hashServers, type JournalFile, readJournal, writeJournal } from './journal.ts';
import { type Entries, jsonServers, SERVERS_FORMATS } from './servers-format.ts';

interface Program {
  /** The Node that runs PML. */
  readonly node: string;
  /** Absolute path of `bin/pml.js`. */
  readonly launcher: string;
  readonly now: () => Date;
}

export interface InitOptions {
  readonly machine: Machine;
  /** A client or a file; absent: every client there is. */
  readonly from?: string;
  /** The pml.json that takes the servers in. */
  readonly target: string;
  readonly launch: Launch;
  /** Where PML listens just now, if it does. */
  readonly ports: readonly number[];
  /** Where it is written down what an undo needs. */
  readonly journal: string;
  readonly now: () => Date;
}

export interface InitPlan {
  readonly changes: readonly ShownChange[];
  /** Servers that go behind PML. */
  readonly imported: readonly { readonly name: string; readonly from: string }[];
  /** What the person should know, a sentence each. */
  readonly notes: readonly string[];
  /** Makes the changes; answers what was done, a sentence each. */
  apply(): Promise<string[]>;
}

/** What it takes to put the clients' servers behind PML and PML into the clients. Changes nothing yet. */
export async function planInit(options: InitOptions): Promise<InitPlan> {
  const { machine, target, launch, journal, now } = options;
  const config = await readTarget(target, machine);
  const around = { machine, launch, ports: [...options.ports, config.port] };
  const merge = mergeServers(config.servers);
  const imported: { name: string; from: string }[] = [];
  const notes: string[] = [];
  const clients: InitChange[] = [];

  const places = await selectPlaces(machine, options.from);
  for (const ofFile of Map.groupBy(places, ({ file }) => file).values()) {
    try {
      const { change, moves, notes: said } = await rewireFile(ofFile, around);
      clients.push(change);
      notes.push(...said);
      for (const move of moves) {
        const { name, isNew } = merge.add(move);
        if (name !== move.name)
          notes.push(`"${move.name}" of ${move.place.label} is called "${name}" in PML.`);
        if (isNew) imported.push({ name, from: move.place.label });
      }
    } catch (error) {
      // One broken file of many does not block the others.
      if (options.from !== undefined || !(error instanceof PmlError)) throw error;
      notes.push(`${ofFile[0]?.label} is left alone: ${error.message}`);
    }
  }

  const wired = clients.filter(isChange);
  const changes = [...takeIn(config, merge.added, machine, wired.length > 0), ...wired].filter(isChange);
  return {
    changes: showChanges(changes),
    imported,
    notes: [...notes, ...sharedFiles(changes, places), ...fleetingPath(launch)],
    async apply() {
      const files = await applyInit(changes, journal, now());
      return files.map(
        ({ file, backup }) => `Wrote ${file}${backup ? `, and kept the old one as ${backup}` : ''}.`,
      );
    },
  };
}

interface Target {
  readonly file: string;
  readonly present: TextFile | null;
  readonly text: string;
  readonly servers: Entries;
  readonly port: number;
}

async function readTarget(file: string, machine: Machine): Promise<Target> {
  const present = await readTextFile(file);
  const text = sureText(file, present) || '{}\n';
  if (!recogniseForm(file, parseSource(file, text).root).ours) {
    throw new PmlError('usage', `${file} is a client's file: PML would stand behind itself`, {
      hint: 'Give --config a file of its own, for example pml.json.',
    });
  }
  const { config } = readConfig(file, text, machine);
  const servers = jsonServers.read(file, text, ['mcpServers']) ?? {};
  return { file, present, text, servers, port: config.pml.http.port };
}

/** Nothing when there is nothing new; but what clients name has to be there, if only as an empty list. */
function takeIn(
  { file, present, text }: Target,
  added: Entries,
  machine: Machine,
  isNamed: boolean,
): InitChange[] {
  const servers = Object.entries(added);
  if (servers.length === 0 && (present || !isNamed)) return [];
  const empty = present ? text : setProperty(text, ['mcpServers'], {});
  const after = servers.reduce(
    (before, [name, entry]) => setProperty(before, ['mcpServers', name], entry),
    empty,
  );
  readConfig(file, after, machine);
  const { encode } = present ?? decodeText(Buffer.alloc(0));
  return [{ file, label: 'PML', client: null, format: 'json', places: [], present, after: encode(after) }];
}

async function rewireFile(
  places: readonly ClientPlace[],
  around: Parameters<typeof rewire>[2],
): Promise<{ change: InitChange; moves: Move[]; notes: string[] }> {
  const { file, label, client, format } = places[0]!;
  const present = await readTextFile(file);
  const moves: Move[] = [];
  const notes: string[] = [];
  let text = sureText(file, present);
  for (const place of places) {
    const rewired = rewire(text, place, around);
    text = rewired.text;
    moves.push(...rewired.moves);
    notes.push(...rewired.notes);
  }
  const { encode } = present ?? decodeText(Buffer.alloc(0));
  const paths = places.map(({ path }) => path);
  return {
    change: { file, label, client, format, places: paths, present, after: encode(text) },
    moves,
    notes,
  };
}

/** A text whose other bytes will survive being written again. */
function sureText(file: string, present: TextFile | null): string {
  if (present === null) return '';
  if (present.encode(present.text).equals(present.bytes)) return present.text;
  throw new PmlError('config_invalid', `${file} is not valid UTF-8`, {
    hint: 'Save it as UTF-8 with an editor, then try again.',
  });
}

function sharedFiles(changes: readonly InitChange[], places: readonly ClientPlace[]): string[] {
  const shared = places.filter(({ project, wired }) => project !== null && wired);
  return changes
    .filter(({ file }) => shared.some((place) => place.file === file))
    .map(
      ({ file }) =>
        `${file} belongs to the project: everybody who shares it gets this machine's path to PML.`,
    );
}

/** npx keeps what it runs in a cache that npm may empty. */
function fleetingPath({ args }: Launch): string[] {
  if (!args.some((arg) => /[\\/]_npx[\\/]/.test(arg))) return [];
  return [
    'PML runs from the cache of npx, which npm may empty: install it with "npm install -g pml-gateway".',
  ];
}

/**
 * What an init on this machine works with. Clients start PML by absolute paths, from any folder and
 * without this shell's variables; so the configuration is said on the command line, and a data folder
 * that is not the default.
 */
export function initOptions(source: ConfigSource, { node, launcher, now }: Program): InitOptions {
  const { env, cwd, home = homedir() } = source;
  const data = dataDir(source);
  const named = source.file ?? (env.PML_CONFIG || undefined);
  const target = named === undefined ? join(data, 'pml.json') : resolve(cwd, named);
  const args = [
    launcher,
    'stdio',
    // Always named: a client starts PML in the project it has open, whose own pml.json is not the user's.
    '--config',
    target,
    ...(data === join(home, '.pml') ? [] : ['--data', data]),
  ];
  return {
    machine: { platform: process.platform, env, home, cwd },
    target,
    launch: { command: node, args },
    ports: [],
    journal: join(data, 'init-journal.json'),
    now,
  };
}

/** A change of a client's file, or of PML's own, which has no places. */
interface InitChange extends FileChange {
  readonly client: ClientName | null;
  readonly places: readonly (readonly string[])[];
  readonly after: Buffer;
}

/**
 * Backups first, then the journal, then the files: wherever this is cut short, an undo finds what it
 * needs. PML's own file comes first among them, so that no server is ever nowhere.
 */
async function applyInit(
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
