import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { appliedMigrations } from '../migrations/index.ts';
import { readSequences, type TableShape, tableShapes } from './table-shapes.ts';

const DEFAULTS = {
  /** Rows per read: each may contain megabytes of events. */
  page: 100,
};

/** The values of a row in PostgreSQL's text format. */
export type Row = readonly (string | null)[];

export interface TableEnd {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 of the rows in order. */
  readonly sha256: string;
}

/** A whole store at one point in time, in pieces. */
export type DumpPiece =
  | { readonly kind: 'migrations'; readonly names: readonly string[] }
  | { readonly kind: 'table'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | ({ readonly kind: 'end' } & TableEnd)
  | { readonly kind: 'sequences'; readonly values: Readonly<Record<string, readonly [string, boolean]>> };

/** Reads everything in one transaction, so that concurrent writes are either all included or all excluded. */
export async function* dump<T>(db: Kysely<T>): AsyncGenerator<DumpPiece> {
  const tx = await db.startTransaction().setIsolationLevel('repeatable read').execute();
  try {
    yield* dumpWithin(tx);
  } finally {
    // Nothing was changed, and the reader may have stopped early.
    await tx.rollback().execute();
  }
}

export async function* dumpWithin<T>(tx: Transaction<T>): AsyncGenerator<DumpPiece> {
  // The format of times and numbers must not depend on the server's settings.
  await sql`set local timezone = 'UTC'`.execute(tx);
  await sql`set local datestyle = 'ISO, YMD'`.execute(tx);
  await sql`set local extra_float_digits = 1`.execute(tx);
  await sql`set local bytea_output = 'hex'`.execute(tx);
  yield { kind: 'migrations', names: await appliedMigrations(tx) };
  for (const shape of await tableShapes(tx)) {
    yield { kind: 'table', table: shape.name, columns: shape.columns.map(({ name }) => name) };
    const digest = createHash('sha256');
    let count = 0;
    for await (const rows of pages(tx, shape)) {
      for (const row of rows) digest.update(`${JSON.stringify(row)}\n`);
      count += rows.length;
      yield { kind: 'rows', rows };
    }
    yield { kind: 'end', table: shape.name, rows: count, sha256: digest.digest('hex') };
  }
  yield { kind: 'sequences', values: await readSequences(tx) };
}

/** Row count and hash of each table of a dump. */
export async function tableEnds(pieces: AsyncIterable<DumpPiece>): Promise<TableEnd[]> {
  const ends: TableEnd[] = [];
  for await (const piece of pieces) if (piece.kind === 'end') ends.push(endOf(piece));
  return ends;
}

export function endOf({ table, rows, sha256 }: TableEnd): TableEnd {
  return { table, rows, sha256 };
}

async function* pages<T>(tx: Transaction<T>, { name, columns, orderBy }: TableShape): AsyncGenerator<Row[]> {
  const values = sql.join(columns.map((column) => sql`${sql.id(column.name)}::text`));
  const query = sql`select array[${values}]::text[] as "values" from ${sql.id(name)} order by ${orderBy}`;
  await sql`declare dump_cursor no scroll cursor for ${query}`.execute(tx);
  for (;;) {
    const { rows } = await sql<{
      values: Row;
    }>`fetch forward ${sql.lit(DEFAULTS.page)} from dump_cursor`.execute(tx);
    if (rows.length === 0) break;
    yield rows.map((row) => row.values);
  }
  await sql`close dump_cursor`.execute(tx);
}
