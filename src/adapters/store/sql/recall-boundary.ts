import { type Kysely, sql } from 'kysely';
import type { Database } from '../database.ts';

const DEFAULTS = {
  /** Traces that may come before the end is looked for again, as a share of those before it. */
  share: 0.02,
  /** The same in milliseconds: other gateways may have forgotten traces. */
  forMs: 60_000,
};

/** Where the newest runs with an intent end, which are known by heart, and those begin that are not. */
export interface RecallBoundary {
  /**
   * The number of a trace behind the newest `beyond`: of the last one before them, or of an earlier one; below all
   * numbers where there are no more than these.
   */
  behind(beyond: number): Promise<number>;
  /** Traces went: what is known no longer holds. */
  forget(): void;
}

/**
 * Counting off thousands of index entries for each question takes as long as all the rest of it; new traces only move the
 * end onwards, so that where it was is a good answer for a while.
 */
export function recallBoundary(db: Kysely<Database>): RecallBoundary {
  let known: { beyond: number; seq: number; last: number; at: number } | null = null;
  return {
    async behind(beyond) {
      const last = await lastNumber(db);
      const isFresh =
        known?.beyond === beyond &&
        last - known.last <= DEFAULTS.share * beyond &&
        performance.now() - known.at < DEFAULTS.forMs;
      if (known && isFresh) return known.seq;
      const row = await db
        .selectFrom('execution_trace')
        .select('seq')
        .where('intent_text', 'is not', null)
        .orderBy('seq', 'desc')
        .offset(beyond)
        .limit(1)
        .executeTakeFirst();
      const seq = row?.seq ?? -1;
      known = { beyond, seq, last, at: performance.now() };
      return seq;
    },
    forget() {
      known = null;
    },
  };
}

/** That was given to any trace, committed or not. */
async function lastNumber(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select last_value as last from execution_trace_seq_seq`.execute(db);
  return rows[0]!.last;
}
