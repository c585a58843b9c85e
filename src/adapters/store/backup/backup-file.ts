import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type Kysely, sql, type Transaction } from 'kysely';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { appliedMigrations } from '../migrations/index.ts';
import { type DumpPiece, dumpWithin, endOf, type Row, type TableEnd, tableEnds } from './dump.ts';
import { type TableShape, tableShapes } from './table-shapes.ts';

const DEFAULTS = {
  /** Rows per chunk. */
  page: 100,
  /** Values per statement; PostgreSQL allows 65,535. */
  values: 10_000,
};

const FORMAT = 'pml-backup';
const VERSION = 1;

/** What a backup says about itself. */
export interface BackupReport {
  readonly file: string;
  readonly madeAt: string;
  readonly tables: readonly TableEnd[];
  /** Of the whole content. */
  readonly sha256: string;
}

/**
 * Writes compressed lines of JSON: a header, then each table's rows between an opening line and a closing
 * line with their count and hash, and finally the hash of everything before. The file has a temporary name
 * until it is complete.
 */
export async function writeBackup(
  file: string,
  madeAt: Date,
  pieces: AsyncIterable<DumpPiece>,
): Promise<BackupReport> {
  const unfinished = `${file}.unfinished`;
  // Removes the leftover of an earlier attempt, and never writes through a link somebody put there.
  await rm(unfinished, { force: true }).catch(() => {});
  const zip = createGzip();
  const digest = createHash('sha256');
  const written = pipeline(zip, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }));
  // Reported when it is awaited, below.
  written.catch(() => {});
  const write = async (line: unknown) => {
    // Some readers treat these characters as line ends.
    const text = `${JSON.stringify(line).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
    digest.update(text);
    if (!zip.write(text)) await Promise.race([once(zip, 'drain'), written]);
  };
  try {
    await write({ format: FORMAT, version: VERSION, made_at: madeAt.toISOString() });
    const tables: TableEnd[] = [];
    for await (const piece of pieces) {
      if (piece.kind === 'rows') for (const row of piece.rows) await write(row);
      else await write(piece);
      if (piece.kind === 'end') tables.push(endOf(piece));
    }
    const sha256 = digest.digest('hex');
    zip.end(`${JSON.stringify({ kind: 'whole', sha256 })}\n`);
    await written;
    await rename(unfinished, file);
    return { file, madeAt: madeAt.toISOString(), tables, sha256 };
  } catch (error) {
    zip.destroy();
    await rm(unfinished, { force: true });
    if (error instanceof PmlError) throw error;
    throw new PmlError('usage', `${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads the whole file and verifies its counts and hashes before it is used. */
export async function checkBackup(file: string): Promise<BackupReport> {
  const tables: TableEnd[] = [];
  let open = { digest: createHash('sha256'), rows: 0 };
  const whole = { sha256: '', madeAt: '' };
  for await (const piece of readLines(file, whole)) {
    if (piece.kind === 'table') open = { digest: createHash('sha256'), rows: 0 };
    else if (piece.kind === 'rows') {
      for (const row of piece.rows) open.digest.update(`${JSON.stringify(row)}\n`);
      open.rows += piece.rows.length;
    } else if (piece.kind === 'end') {
      const { table, rows, sha256 } = piece;
      if (open.rows !== rows || open.digest.digest('hex') !== sha256)
        throw damaged(file, `the checksum of table ${table} is wrong`);
      tables.push(endOf(piece));
    }
  }
  return { file, madeAt: whole.madeAt, tables, sha256: whole.sha256 };
}

export async function* readBackup(file: string): AsyncGenerator<DumpPiece> {
  yield* readLines(file, { sha256: '', madeAt: '' });
}

async function* readLines(
  file: string,
  whole: { sha256: string; madeAt: string },
): AsyncGenerator<DumpPiece> {
  const digest = createHash('sha256');
  const source = createReadStream(file);
  const zip = source.pipe(createGunzip());
  source.on('error', (error) => zip.destroy(error));
  let isFirst = true;
  let isWhole = false;
  let rows: Row[] = [];
  try {
    for await (const text of createInterface({ input: zip, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = JSON.parse(text);
      if (isFirst) whole.madeAt = headerOf(file, line);
      if (line?.kind === 'whole') {
        isWhole = true;
        whole.sha256 = line.sha256;
        if (digest.digest('hex') !== line.sha256) throw damaged(file, 'its checksum is wrong');
        break;
      }
      digest.update(`${text}\n`);
      if (Array.isArray(line)) rows.push(line as Row);
      if (rows.length > 0 && (rows.length === DEFAULTS.page || !Array.isArray(line))) {
        yield { kind: 'rows', rows };
        rows = [];
      }
      if (!isFirst && !Array.isArray(line)) yield line as DumpPiece;
      isFirst = false;
    }
  } catch (error) {
    if (error instanceof PmlError) throw error;
    throw damaged(file, (error as Error).message, error);
  }
  if (!isWhole) throw damaged(file, 'it is incomplete');
}

function headerOf(file: string, line: { format?: unknown; version?: unknown; made_at?: unknown }): string {
  if (line?.format !== FORMAT) throw damaged(file, 'it is not a PML backup');
  if (line.version !== VERSION) {
    throw new PmlError(
      'usage',
      `${file} has format version ${line.version}; this PML reads version ${VERSION}`,
      {
        hint: 'Restore it with the version of PML that created it.',
      },
    );
  }
  return String(line.made_at);
}

function damaged(file: string, why: string, cause?: unknown): PmlError {
  return new PmlError('usage', `${file} cannot be restored: ${why}`, {
    hint: 'Nothing was changed. Use another backup.',
    cause,
  });
}

/** Tables with rows even in a new store; these may be overwritten. */
const BLANK = new Set(['graph_state', 'rollup_state', 'tally']);

export interface LoadOptions {
  /** Overwrite existing data. */
  readonly replace: boolean;
}

/**
 * Replaces the store's content by a dump, atomically; then reads it back and compares the rows of every
 * table.
 */
export async function load<T>(
  db: Kysely<T>,
  pieces: AsyncIterable<DumpPiece>,
  options: LoadOptions,
  also: (tx: Transaction<T>) => Promise<void> = async () => {},
): Promise<TableEnd[]> {
  return await db.transaction().execute(async (tx) => {
    const shapes = await tableShapes(tx);
    if (!options.replace) await refuseFull(tx, shapes);
    for (const { name } of shapes) await sql`alter table ${sql.id(name)} disable trigger user`.execute(tx);
    for (const { name } of shapes.toReversed()) await sql`delete from ${sql.id(name)}`.execute(tx);
    const given = await fill(tx, shapes, pieces);
    const found = await tableEnds(dumpWithin(tx));
    compare(given, found);
    for (const { name } of shapes) await sql`alter table ${sql.id(name)} enable trigger user`.execute(tx);
    await also(tx);
    return found;
  });
}

async function refuseFull<T>(tx: Transaction<T>, shapes: readonly TableShape[]): Promise<void> {
  for (const { name } of shapes) {
    if (BLANK.has(name)) continue;
    const { rows } = await sql`select 1 from ${sql.id(name)} limit 1`.execute(tx);
    if (rows.length === 0) continue;
    throw new PmlError('store_conflict', `The store is not empty: ${name} has rows`, {
      hint: 'Back it up, then add --replace to overwrite it.',
    });
  }
}

async function fill<T>(
  tx: Transaction<T>,
  shapes: readonly TableShape[],
  pieces: AsyncIterable<DumpPiece>,
): Promise<TableEnd[]> {
  const ends: TableEnd[] = [];
  let open: { readonly shape: TableShape; readonly columns: readonly string[] } | null = null;
  for await (const piece of pieces) {
    switch (piece.kind) {
      case 'migrations':
        await refuseOther(tx, piece.names);
        break;
      case 'table':
        open = { shape: known(shapes, piece.table), columns: piece.columns };
        break;
      case 'rows':
        if (open) await insert(tx, open.shape, open.columns, piece.rows);
        break;
      case 'end':
        ends.push(endOf(piece));
        break;
      case 'sequences':
        await setSequences(tx, piece.values);
    }
  }
  return ends;
}

/**
 * Rows of another schema would be lost or wrong. A store is migrated by the PML that runs on it, not here.
 */
async function refuseOther<T>(tx: Transaction<T>, names: readonly string[]): Promise<void> {
  const own = await appliedMigrations(tx);
  if (own.join() === names.join()) return;
  const theirs = names.at(-1) ?? 'none';
  throw new PmlError(
    'store_conflict',
    `The backup has schema ${theirs}; this store has schema ${own.at(-1)}`,
    {
      hint: 'Restore it with the version of PML that created it, then start this version on that store.',
    },
  );
}

function known(shapes: readonly TableShape[], table: string): TableShape {
  const shape = shapes.find(({ name }) => name === table);
  if (shape) return shape;
  throw new PmlError('store_conflict', `This store has no table ${table}`);
}

async function setSequences<T>(
  tx: Transaction<T>,
  values: Extract<DumpPiece, { kind: 'sequences' }>['values'],
): Promise<void> {
  for (const [name, [value, isCalled]] of Object.entries(values)) {
    await sql`select setval(${name}::text::regclass, ${value}::text::bigint, ${isCalled})`.execute(tx);
  }
}

/** Traces are partitioned by month; creates the partitions of these rows. */
async function makeMonths<T>(
  tx: Transaction<T>,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const at = columns.indexOf('executed_at');
  // A time reads `2026-11-15 10:20:30+00`: UTC, like the partitions.
  const byMonth = new Map(rows.map((row) => [row[at]?.slice(0, 7), row[at]]));
  for (const time of byMonth.values())
    await sql`select ensure_trace_month(${time}::text::timestamptz)`.execute(tx);
}

async function insert<T>(
  tx: Transaction<T>,
  { name, columns: own }: TableShape,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  if (name === 'execution_trace') await makeMonths(tx, columns, rows);
  const types = columns.map((column) => own.find((known) => known.name === column)?.type);
  const most = Math.max(1, Math.floor(DEFAULTS.values / Math.max(1, columns.length)));
  for (let at = 0; at < rows.length; at += most) {
    const tuples = rows.slice(at, at + most).map((row) => {
      // Cast from text, the format it was dumped in; a driver would guess another type.
      const values = row.map((value, i) => sql`${value}::text::${sql.raw(types[i] ?? 'text')}`);
      return sql`(${sql.join(values)})`;
    });
    await sql`insert into ${sql.id(name)} (${sql.join(columns.map((column) => sql.id(column)))})
      values ${sql.join(tuples)}`.execute(tx);
  }
}

function compare(given: readonly TableEnd[], found: readonly TableEnd[]): void {
  for (const { table, rows, sha256 } of given) {
    const here = found.find((end) => end.table === table);
    if (here?.rows === rows && here.sha256 === sha256) continue;
    throw new PmlError(
      'store_conflict',
      `Table ${table} differs from the backup after restoring (expected ${rows} rows, found ${here?.rows ?? 0})`,
      { hint: 'Nothing was changed. Please report this.' },
    );
  }
}
