import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { checkVector } from '../../../core/retrieval/wasm-vector-index.ts';
import type { Neighbour, StoredVectorIndex } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { bytesToVector, guarded } from '../sql/codec.ts';

const DEFAULTS = {
  /** Vectors inserted per statement. */
  batch: 200,
  /** Milliseconds until the number of intents is checked again. */
  againMs: 600_000,
  /** Minimum `ef_search`, the candidates examined per query: more candidates, better recall. */
  effort: 100,
};

/** Ids of the traces with the nearest intents, if the database has pgvector and enough intents. */
export interface IntentIndex {
  /** Null while not available. `beyond`: how many of the newest traces the caller holds in memory. */
  nearest(model: string, intent: Float32Array, limit: number, beyond: number): Promise<string[] | null>;
  /** A trace's intent now has a vector. */
  note(id: string, model: string, intent: Float32Array): Promise<void>;
}

export function createIntentIndex(db: Kysely<Database>): IntentIndex {
  const ready = new Map<string, PgvectorIndex>();
  const filling = new Set<string>();
  let isPossible: Promise<boolean> | null = null;
  let triedAt = Number.NEGATIVE_INFINITY;

  /** Goes from the newest to the oldest once; returns how many were missing. */
  async function bringIn(model: string, table: string, index: PgvectorIndex): Promise<number> {
    let missing = 0;
    let below = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const { rows } = await sql<{ seq: number; id: string; embedding: Uint8Array }>`
        select seq, id, intent_embedding as embedding from execution_trace as trace
        where seq < ${below} and embedding_model = ${model}
          and intent_text is not null and intent_embedding is not null
          and not exists (select from ${sql.table(table)} as known where known.id = trace.id)
        order by seq desc limit ${DEFAULTS.batch}`.execute(db);
      if (rows.length === 0) return missing;
      await index.setAll(rows.map(({ id, embedding }) => [id, bytesToVector(embedding)]));
      missing += rows.length;
      below = rows.at(-1)!.seq;
    }
  }

  /** Creates the table and adds missing vectors in the background; other gateways fill the same table. */
  async function fill(model: string, dimension: number): Promise<void> {
    const table = tableOf(model, dimension);
    await sql`create schema if not exists ${sql.id(SCHEMA)}`.execute(db);
    const idColumn = 'text primary key references trace_key (id) on delete cascade';
    const index = await PgvectorIndex.open(db, { table, dimension, idColumn });
    // New traces or vectors may have arrived meanwhile: repeat until none is missing.
    while ((await bringIn(model, table, index)) > 0);
    ready.set(model, index);
  }

  async function fillSoon(model: string, dimension: number, beyond: number): Promise<void> {
    if (filling.has(model) || performance.now() - triedAt < DEFAULTS.againMs) return;
    triedAt = performance.now();
    isPossible ??= canIndex(db);
    if (!(await isPossible) || !(await hasMore(db, beyond))) return;
    filling.add(model);
    void fill(model, dimension)
      .catch(() => {})
      .finally(() => filling.delete(model));
  }

  return {
    async nearest(model, intent, limit, beyond) {
      const index = ready.get(model);
      if (index) return (await index.nearest(intent, limit)).map(({ id }) => id);
      await fillSoon(model, intent.length, beyond);
      return null;
    },
    async note(id, model, intent) {
      await ready.get(model)?.set(id, intent);
    },
  };
}

/** A separate schema: these tables are derived from the stored data, and not every database supports them. */
const SCHEMA = 'pml_vector';

/** One table per model, because vectors of two models cannot be compared. */
function tableOf(model: string, dimension: number): string {
  const hash = createHash('sha256').update(`${model} ${dimension}`).digest('hex').slice(0, 12);
  return `${SCHEMA}.intent_${hash}`;
}

/** Whether pgvector is installed or can be created. */
async function canIndex(db: Kysely<Database>): Promise<boolean> {
  try {
    await sql`create extension if not exists vector`.execute(db);
    return true;
  } catch {
    return false;
  }
}

async function hasMore(db: Kysely<Database>, beyond: number): Promise<boolean> {
  const { rows } = await guarded('Counting intents', () =>
    sql`select from execution_trace where intent_text is not null offset ${beyond} limit 1`.execute(db),
  );
  return rows.length > 0;
}

/**
 * Vectors in one table, searched by inner product with pgvector's HNSW index (Malkov and Yashunin, 2016). The
 * extension must exist; the table is created if necessary.
 */
export class PgvectorIndex implements StoredVectorIndex {
  readonly dimension: number;
  readonly #db: Kysely<never>;
  readonly #table: string;

  private constructor(db: Kysely<never>, table: string, dimension: number) {
    this.#db = db;
    this.#table = table;
    this.dimension = dimension;
  }

  /** `idColumn` is the SQL definition of the id column, with its reference and cascade. */
  static async open<T>(
    db: Kysely<T>,
    {
      table,
      dimension,
      idColumn = 'text primary key',
    }: { table: string; dimension: number; idColumn?: string },
  ): Promise<PgvectorIndex> {
    await guarded(`Opening the vectors of ${table}`, async () => {
      await sql`
        create table if not exists ${sql.table(table)} (
          id ${sql.raw(idColumn)},
          seq bigserial,
          embedding vector(${sql.lit(dimension)}) not null
        )`.execute(db);
      await sql`
        create index if not exists ${sql.id(`${table.split('.').at(-1)}_nearest`)} on ${sql.table(table)}
        using hnsw (embedding vector_ip_ops)`.execute(db);
    });
    return new PgvectorIndex(db as unknown as Kysely<never>, table, dimension);
  }

  get size(): Promise<number> {
    return this.#ask(async (db) => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from ${this.#name}`.execute(db);
      return Number(rows[0]?.count);
    });
  }

  async set(id: string, vector: Float32Array): Promise<void> {
    checkVector(vector, this.dimension, id);
    await this.setAll([[id, vector]]);
  }

  async setAll(vectors: readonly (readonly [id: string, vector: Float32Array])[]): Promise<void> {
    if (vectors.length === 0) return;
    const rows = vectors.map(([id, vector]) => sql`(${id}, ${spell(vector)}::vector)`);
    await this.#ask((db) =>
      sql`
        insert into ${this.#name} (id, embedding) values ${sql.join(rows)}
        on conflict (id) do update set embedding = excluded.embedding`.execute(db),
    );
  }

  async get(id: string): Promise<Float32Array | undefined> {
    const { rows } = await this.#ask((db) =>
      sql<{ embedding: string }>`
        select embedding::text as embedding from ${this.#name} where id = ${id}`.execute(db),
    );
    return rows[0] && Float32Array.from(JSON.parse(rows[0].embedding) as number[]);
  }

  async delete(id: string): Promise<boolean> {
    const { numAffectedRows } = await this.#ask((db) =>
      sql`delete from ${this.#name} where id = ${id}`.execute(db),
    );
    return numAffectedRows === 1n;
  }

  async nearest(query: Float32Array, k: number): Promise<Neighbour[]> {
    checkVector(query, this.dimension, 'the query');
    if (k <= 0) return [];
    return await this.#ask((db) =>
      db.transaction().execute(async (tx) => {
        await this.#lookFor(tx, k);
        // pgvector's operator is the negative inner product: the smallest is the nearest.
        const { rows } = await sql<{ id: string; distance: number }>`
          select id, embedding <#> ${spell(query)}::vector as distance from ${this.#name}
          order by distance, seq limit ${k}`.execute(tx);
        return rows.map(({ id, distance }) => ({ id, score: -distance }));
      }),
    );
  }

  async scores(query: Float32Array, ids: readonly string[]): Promise<Float32Array> {
    checkVector(query, this.dimension, 'the query');
    const { rows } = await this.#ask((db) =>
      sql<{ id: string; distance: number }>`
        select id, embedding <#> ${spell(query)}::vector as distance from ${this.#name}
        where id = any(${[...ids]}::text[])`.execute(db),
    );
    const byId = new Map(rows.map(({ id, distance }) => [id, -distance]));
    return Float32Array.from(ids, (id) => byId.get(id) ?? Number.NaN);
  }

  get #name() {
    return sql.table(this.#table);
  }

  /** For this transaction: examines at least `k` candidates, and some more to choose from. */
  async #lookFor(tx: Transaction<never>, k: number): Promise<void> {
    const effort = Math.min(1_000, Math.max(DEFAULTS.effort, 2 * k));
    await sql`select set_config('hnsw.ef_search', ${String(effort)}, true)`.execute(tx);
  }

  #ask<T>(work: (db: Kysely<never>) => Promise<T>): Promise<T> {
    return guarded(`Searching the vectors of ${this.#table}`, () => work(this.#db));
  }
}

/** pgvector's text format; exact for float32. */
function spell(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
