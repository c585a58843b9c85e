import { type Kysely, type RawBuilder, sql } from 'kysely';

/**
 * Internal tables of one database that are meaningless in another, and what OAuth clients were granted: a restored
 * backup must not bring back what was revoked since.
 */
const LEFT_OUT = ['kysely_migration', 'kysely_migration_lock', 'store_change', 'oauth_record'];

/** How a table is dumped: values in PostgreSQL's text format, rows in a fixed order. */
export interface TableShape {
  readonly name: string;
  /** Sorted by name, whatever the order in the table. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly orderBy: RawBuilder<unknown>;
}

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
  readonly is_key: boolean;
}

/** All tables to dump; referenced tables come before those that refer to them. */
export async function tableShapes<T>(db: Kysely<T>): Promise<TableShape[]> {
  const { rows } = await sql<ColumnRow>`
    select c.relname as table_name, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      coalesce(a.attnum = any(i.indkey), false) as is_key
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname collate "C", a.attname collate "C"`.execute(db);
  const kept = rows.filter((row) => !LEFT_OUT.includes(row.table_name));
  const shapes = [...Map.groupBy(kept, (row) => row.table_name)].map(([name, columns]) =>
    shapeOf(name, columns),
  );
  return parentsFirst(shapes, await references(db));
}

/** Sequences and their values, so that no number is assigned twice. */
export async function readSequences<T>(db: Kysely<T>): Promise<Record<string, readonly [string, boolean]>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'S' order by relname collate "C"`.execute(
    db,
  );
  const found: Record<string, readonly [string, boolean]> = {};
  for (const { name } of rows) {
    if (LEFT_OUT.some((table) => name.startsWith(`${table}_`))) continue;
    const { rows: values } = await sql<{ last_value: string; is_called: boolean }>`
      select last_value::text, is_called from ${sql.id(name)}`.execute(db);
    found[name] = [values[0]!.last_value, values[0]!.is_called];
  }
  return found;
}

function shapeOf(name: string, rows: readonly ColumnRow[]): TableShape {
  const keys = rows.filter((row) => row.is_key);
  const [seq] = rows.filter((row) => row.name === 'seq');
  const ordering = seq ? [seq] : keys.length > 0 ? keys : rows;
  return {
    name,
    columns: rows.map(({ name: column, type }) => ({ name: column, type })),
    orderBy: sql.join(ordering.map(comparable)),
  };
}

/** The same order under every collation. */
function comparable({ name, type }: ColumnRow): RawBuilder<unknown> {
  const isNumber = ['bigint', 'integer'].includes(type);
  return isNumber ? sql`${sql.id(name)}` : sql`${sql.id(name)}::text collate "C"`;
}

async function references<T>(db: Kysely<T>): Promise<{ from: string; to: string }[]> {
  const { rows } = await sql<{ from: string; to: string }>`
    select f.relname as "from", t.relname as "to" from pg_constraint
    join pg_class f on f.oid = conrelid join pg_class t on t.oid = confrelid
    where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(db);
  return rows;
}

function parentsFirst(
  shapes: readonly TableShape[],
  edges: readonly { from: string; to: string }[],
): TableShape[] {
  const placed: TableShape[] = [];
  const isPlaced = (name: string) => placed.some((shape) => shape.name === name);
  while (placed.length < shapes.length) {
    const next = shapes.find(
      ({ name }) =>
        !isPlaced(name) && edges.every(({ from, to }) => from !== name || to === name || isPlaced(to)),
    );
    if (!next) throw new Error('tables have circular references');
    placed.push(next);
  }
  return placed;
}
