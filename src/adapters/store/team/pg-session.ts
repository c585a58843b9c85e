import { setTimeout } from 'node:timers/promises';
import pg from 'pg';

const DEFAULTS = {
  /** Milliseconds between two checks that the server responds. */
  tickMs: 1_000,
  /** Milliseconds to wait for a connection or a response before the connection counts as lost. */
  answerMs: 5_000,
  /** Pauses between attempts, in milliseconds; the last one is repeated. */
  retryMs: [50, 200, 500, 1_000],
};

export interface SessionWork {
  /** Called first on each new connection. */
  begin(client: pg.Client): Promise<void>;
  /** Called every second, and when poked. */
  tick(client: pg.Client): Promise<void>;
  notified(payload: string): void;
  /** Called at once when the connection is lost, also if there was none. */
  lost(): void;
}

export interface PgSession {
  /** Ticks now. */
  poke(): void;
  close(): Promise<void>;
}

/** A separate connection, reopened whenever it is lost. Rejects only if the first attempt fails. */
export async function keepSession(
  { url, name }: { readonly url: string; readonly name: string },
  work: SessionWork,
): Promise<PgSession> {
  const closing = new AbortController();
  let poke = () => {};
  const pause = async (ms: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    poke = resolve;
    const waiting = new AbortController();
    const signal = AbortSignal.any([waiting.signal, closing.signal]);
    await Promise.race([promise, setTimeout(ms, undefined, { signal, ref: false }).catch(() => {})]);
    waiting.abort();
  };

  const connect = async () => {
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: DEFAULTS.answerMs,
      query_timeout: DEFAULTS.answerMs,
      keepAlive: true,
    });
    const lost = new AbortController();
    const lose = () => {
      if (lost.signal.aborted) return;
      lost.abort();
      work.lost();
      poke();
    };
    client.on('error', lose);
    client.on('end', lose);
    client.on('notification', ({ payload }) => work.notified(payload ?? ''));
    try {
      await client.connect();
      await work.begin(client);
      return { client, lost: lost.signal, lose };
    } catch (error) {
      lose();
      await client.end().catch(() => {});
      throw error;
    }
  };

  const serve = async ({ client, lost, lose }: Awaited<ReturnType<typeof connect>>) => {
    try {
      while (!lost.aborted && !closing.signal.aborted) {
        await work.tick(client);
        if (!lost.aborted) await pause(DEFAULTS.tickMs);
      }
    } finally {
      lose();
      // An unresponsive server would not close the connection either.
      await Promise.race([client.end().catch(() => {}), setTimeout(DEFAULTS.tickMs)]);
    }
  };

  const live = async (first: Awaited<ReturnType<typeof connect>>) => {
    await serve(first).catch(() => {});
    for (let failures = 0; !closing.signal.aborted; ) {
      await pause(DEFAULTS.retryMs[Math.min(failures++, DEFAULTS.retryMs.length - 1)]!);
      if (closing.signal.aborted) return;
      try {
        const again = await connect();
        failures = 0;
        await serve(again);
      } catch {
        // Retried until stopped; users of the store get the error.
      }
    }
  };
  const living = live(await connect());
  return {
    poke: () => poke(),
    async close() {
      closing.abort();
      poke();
      await living;
    },
  };
}
