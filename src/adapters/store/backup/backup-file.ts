import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { type DumpPiece, endOf, type Row, type TableEnd } from './dump.ts';

const DEFAULTS = {
  /** Rows per chunk. */
  page: 100,
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
