import { constants, copyFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { recogniseForm } from '../client-form.ts';
import { setProperty } from '../edit-config.ts';
import { type ConfigSource, dataDir } from '../find-config.ts';
import { readConfig } from '../read-config.ts';
import { parseSource } from '../source-text.ts';
import { decodeText, readTextFile, type TextFile, writeFileWhole } from '../text-file.ts';
import type { Entry, Launch } from './client-dialects.ts';
import { foreignServers, type Move, mergeServers, rewire } from './client-entries.ts';
import type { ClientName, ClientPlace, Machine } from './client-places.ts';
import { readRules, type ServerRules } from './client-rules.ts';
import {
  type FileChange,
  hashOf,
  hashServers,
  isChange,
  type JournalFile,
  readJournal,
  refuseIfStale,
  type ShownChange,
  showChanges,
  writeJournal,
} from './file-change.ts';
import { selectPlaces } from './select-places.ts';
import { type Entries, jsonServers, SERVERS_FORMATS } from './servers-format.ts';

interface Program {
  /** The Node binary that runs PML. */
  readonly node: string;
  /** Absolute path of `bin/pml.js`. */
  readonly launcher: string;
  readonly now: () => Date;
}

export interface InitOptions {
  readonly machine: Machine;
  /** A client or a file; absent means every client found. */
  readonly from?: string;
  /** The servers of the project in the current folder, instead of those that apply everywhere. */
  readonly project?: boolean;
  /** The pml.json that receives the servers. */
  readonly target: string;
  readonly launch: Launch;
  /** The same for the servers of a project: they stay in its folder. */
  readonly ofProject: (folder: string) => { readonly target: string; readonly launch: Launch };
  /** The ports PML listens on now, if it runs. */
  readonly ports: readonly number[];
  /** File that records what an undo needs. */
  readonly journal: string;
  readonly now: () => Date;
}

export interface InitPlan {
  readonly changes: readonly ShownChange[];
  /** Servers that move behind PML. */
  readonly imported: readonly { readonly name: string; readonly from: string }[];
  /** Notes for the person, one sentence each. */
  readonly notes: readonly string[];
  /** Makes the changes; returns what was done, one sentence each. */
  apply(): Promise<string[]>;
}

/** Plans how to move the clients' servers behind PML and to add PML to the clients. Changes nothing yet. */
export async function planInit(options: InitOptions): Promise<InitPlan> {
  const { machine, journal, now } = options;
  const { places, project, left } = await selectPlaces(machine, options);
  const { target, launch } = project === null ? options : options.ofProject(project);
  const config = await readTarget(target, machine);
  const around = { machine, launch, ports: [...options.ports, config.port] };
  const merge = mergeServers(config.servers);
  const imported: { name: string; from: string }[] = [];
  const notes: string[] = [];
  const clients: InitChange[] = [];
  const logins = new Set<string>();

  for (const ofFile of Map.groupBy(places, ({ file }) => file).values()) {
    try {
      const { change, moves, notes: said, notesOn } = await rewireFile(ofFile, around);
      clients.push(change);
      notes.push(...said);
      const names = new Map<Move, string>();
      for (const move of moves) {
        const { name, isNew } = merge.add(move);
        names.set(move, name);
        if (name !== move.name)
          notes.push(`"${move.name}" of ${move.place.label} is called "${name}" in PML.`);
        if (isNew) imported.push({ name, from: move.place.label });
        if (mayNeedLogin(move.entry)) logins.add(name);
      }
      notes.push(...notesOn({ target, nameOf: (move) => names.get(move)! }));
    } catch (error) {
      // One broken file does not block the others.
      if (options.from !== undefined || !(error instanceof PmlError)) throw error;
      notes.push(`${ofFile[0]?.label} is not changed: ${error.message}`);
    }
  }

  const wired = clients.filter(isChange);
  const own = takeIn(config, merge.added, machine, wired.length > 0);
  const ignored = project === null ? [] : await ignoreFolder(dirname(target), wired.length > 0);
  const changes = [...own, ...ignored, ...wired].filter(isChange);
  return {
    changes: showChanges(changes),
    imported,
    notes: [
      ...notes,
      ...neededLogins([...logins]),
      ...(await stayingServers(left, machine)),
      ...sharedFiles(changes, places),
      ...fleetingPath(launch),
    ],
    async apply() {
      const files = await applyInit(changes, journal, now());
      return files.map(
        ({ file, backup }) => `Wrote ${file}${backup ? `; the old version is ${backup}` : ''}.`,
      );
    },
  };
}

/** A client that logs in by browser keeps the login to itself; credentials in the entry move with it. */
function mayNeedLogin({ url, headers, auth, disabled }: Entry): boolean {
  if (url === undefined || disabled === true) return false;
  const kind = (auth as Entry | undefined)?.kind;
  return kind === undefined ? Object.keys(headers ?? {}).length === 0 : kind === 'authorization_code';
}

function neededLogins(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const list = names.map((name) => `"${name}"`).join(', ');
  return [
    `Logins stay with the clients. If ${list} ${names.length === 1 ? 'needs one' : 'need one'}, log in once: pml servers login NAME.`,
  ];
}

/** Servers of this project, which apply only here. */
async function stayingServers(left: readonly ClientPlace[], machine: Machine): Promise<string[]> {
  const notes: string[] = [];
  for (const place of left) {
    const present = await readTextFile(place.file).catch(() => null);
    const names = present ? namesIn(present.text, place, machine) : [];
    if (names.length === 0) continue;
    const list = names.map((name) => `"${name}"`).join(', ');
    notes.push(
      `${list} ${names.length === 1 ? 'stays' : 'stay'} in ${place.file}, for this project only. To put the servers of this project behind PML: pml init --project.`,
    );
  }
  return notes;
}

function namesIn(text: string, place: ClientPlace, machine: Machine): string[] {
  try {
    return foreignServers(text, place, machine);
  } catch {
    // A broken file of the project is the client's to report: it stays as it is.
    return [];
  }
}

/** A project's data does not belong into its repository. */
async function ignoreFolder(folder: string, isNamed: boolean): Promise<InitChange[]> {
  const file = join(folder, '.gitignore');
  const present = await readTextFile(file);
  if (present || !isNamed) return [];
  const after = Buffer.from('*\n');
  return [{ file, label: 'PML', client: null, format: 'json', places: [], present, after }];
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
    throw new PmlError('usage', `${file} belongs to a client, so PML would be its own upstream`, {
      hint: 'Use another file with --config, for example pml.json.',
    });
  }
  const { config } = readConfig(file, text, machine);
  const servers = jsonServers.read(file, text, ['mcpServers']) ?? {};
  return { file, present, text, servers, port: config.pml.http.port };
}

/** No change if nothing is new; but the file the clients refer to must exist, if only with an empty list. */
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

/** Notes that need to know what PML calls the servers. */
type NotesOn = (own: Parameters<ServerRules['notesOn']>[1]) => string[];

async function rewireFile(
  places: readonly ClientPlace[],
  around: Omit<Parameters<typeof rewire>[2], 'isOff'>,
): Promise<{ change: InitChange; moves: Move[]; notes: string[]; notesOn: NotesOn }> {
  const { file, label, client, format } = places[0]!;
  const present = await readTextFile(file);
  const moves: Move[] = [];
  const notes: string[] = [];
  const later: NotesOn[] = [];
  let text = sureText(file, present);
  for (const place of places) {
    const { isOff, notesOn } = await readRules(place, around.machine);
    const rewired = rewire(text, place, { ...around, isOff });
    text = rewired.text;
    moves.push(...rewired.moves);
    notes.push(...rewired.notes);
    later.push((own) => notesOn(rewired.moves, own));
  }
  const { encode } = present ?? decodeText(Buffer.alloc(0));
  const paths = places.map(({ path }) => path);
  return {
    change: { file, label, client, format, places: paths, present, after: encode(text) },
    moves,
    notes,
    notesOn: (own) => later.flatMap((notesOf) => notesOf(own)),
  };
}

/** Decodes a file, if writing the text back would preserve all its other bytes. */
function sureText(file: string, present: TextFile | null): string {
  if (present === null) return '';
  if (present.encode(present.text).equals(present.bytes)) return present.text;
  throw new PmlError('config_invalid', `${file} is not valid UTF-8`, {
    hint: 'Save it as UTF-8 with an editor, then try again.',
  });
}

function sharedFiles(changes: readonly InitChange[], places: readonly ClientPlace[]): string[] {
  const shared = places.filter(({ project, path }) => project !== null && path[0] !== 'projects');
  return changes
    .filter(({ file }) => shared.some((place) => place.file === file))
    .map(
      ({ file }) =>
        `${file} is shared with the project: everybody who uses it gets this machine's path to PML.`,
    );
}

/** npx runs packages from a cache that npm may empty. */
function fleetingPath({ args }: Launch): string[] {
  if (!args.some((arg) => /[\\/]_npx[\\/]/.test(arg))) return [];
  return [
    'PML runs from the cache of npx, which npm may empty: install it with "npm install -g pml-gateway".',
  ];
}

/**
 * The options of an init on this machine. Clients start PML by absolute paths, from any folder and without
 * this shell's variables, so the configuration and a non-default data folder go on the command line.
 */
export function initOptions(source: ConfigSource, { node, launcher, now }: Program): InitOptions {
  const { env, cwd, home = homedir() } = source;
  const data = dataDir(source);
  const named = source.file ?? (env.PML_CONFIG || undefined);
  const target = named === undefined ? join(data, 'pml.json') : resolve(cwd, named);
  const launch = (config: string, folder: string) => ({
    command: node,
    args: [
      launcher,
      'stdio',
      // Always given: a client starts PML in the open project, which may have another pml.json.
      '--config',
      config,
      ...(folder === join(home, '.pml') ? [] : ['--data', folder]),
    ],
  });
  return {
    machine: { platform: process.platform, env, home, cwd },
    target,
    launch: launch(target, data),
    ofProject(folder) {
      // One process serves a data folder, with one configuration: a project needs its own.
      const own = join(folder, '.pml');
      const file = named === undefined ? join(own, 'pml.json') : target;
      return { target: file, launch: launch(file, named === undefined ? own : data) };
    },
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
 * Writes backups first, then the journal, then the files: after an interruption at any point, an undo has
 * what it needs. PML's own file comes first, so that every server is always listed somewhere.
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

/** Copies the file to an unused name in the same folder. */
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
