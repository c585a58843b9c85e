import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../database.ts';
import { bytesToVector, guarded } from '../sql/codec.ts';
import { PgvectorIndex } from './pgvector-index.ts';

const DEFAULTS = {
  /** Vectors brought in at once. */
  batch: 200,
  /** Before it is looked again whether there are enough by now, in milliseconds. */
  againMs: 600_000,
};

/** Ids of the traces whose intents are nearest, where the database can tell: it has pgvector, and enough of them. */
export interface IntentIndex {
  /** Null while it cannot. `beyond`: how many of the newest the caller holds in memory. */
  nearest(model: string, intent: Float32Array, limit: number, beyond: number): Promise<string[] | null>;
  /** A trace got its vector. */
  note(id: string, model: string, intent: Float32Array): Promise<void>;
}

export function createIntentIndex(db: Kysely<Database>): IntentIndex {
  const ready = new Map<string, PgvectorIndex>();
  const filling = new Set<string>();
  let isPossible: Promise<boolean> | null = null;
  let triedAt = Number.NEGATIVE_INFINITY;

  /** From the newest to the oldest, each looked at once; answers how many were missing. */
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

  /** Makes the table and brings in what is missing, in the background; other gateways fill the same table. */
  async function fill(model: string, dimension: number): Promise<void> {
    const table = tableOf(model, dimension);
    await sql`create schema if not exists ${sql.id(SCHEMA)}`.execute(db);
    const idColumn = 'text primary key references trace_key (id) on delete cascade';
    const index = await PgvectorIndex.open(db, { table, dimension, idColumn });
    // Some may have come, or got their vector, behind its back: it goes through all until there are none.
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

/** Apart from all that is kept: these tables are made again from it, and not everywhere can they be. */
const SCHEMA = 'pml_vector';

/** A table per model: vectors of two have nothing to do with each other. */
function tableOf(model: string, dimension: number): string {
  const hash = createHash('sha256').update(`${model} ${dimension}`).digest('hex').slice(0, 12);
  return `${SCHEMA}.intent_${hash}`;
}

/** Whether the extension is there, or may be had. */
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
