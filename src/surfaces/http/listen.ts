import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Waits for open responses, then closes. */
  close(): Promise<void>;
}

const DEFAULTS = {
  closeGraceMs: 2_000,
  /** Milliseconds a result is cached: anyone may ask without a token, and each check queries the store. */
  trustMs: 1_000,
  /** Milliseconds the store has to respond. */
  patienceMs: 2_000,
};

export async function listen(app: Hono, host: string, port: number): Promise<Listener> {
  const server = await new Promise<Server>((resolve, reject) => {
    const starting = serve({ fetch: app.fetch, hostname: host, port }, () => resolve(starting as Server));
    starting.on('error', (error) => reject(explain(error, host, port)));
  });
  const address = server.address() as { port: number };
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    host,
    port: address.port,
    url: `http://${shown}:${address.port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const impatient = setTimeout(() => server.closeAllConnections(), DEFAULTS.closeGraceMs);
      await closed;
      clearTimeout(impatient);
    },
  };
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): PmlError {
  if (error.code === 'EADDRINUSE') {
    return new PmlError('port_in_use', `Port ${port} on ${host} is in use by another program`, {
      hint: 'Choose another port with --port, or --port 0 for any free one.',
      cause: error,
    });
  }
  return new PmlError('internal', `Cannot listen on ${host}:${port}: ${error.message}`, {
    hint: 'Check --host and --port.',
    cause: error,
  });
}

/** `opening`: the store is not open yet. `stopping`: the gateway is stopping. */
export type Readiness = 'ready' | 'opening' | 'stopping' | 'store_unavailable';

export interface ReadinessOptions {
  /** Resolves when the store is open. */
  readonly opened: Promise<unknown>;
  readonly isStopping: () => boolean;
  /** A small query of the store. */
  readonly ping: () => Promise<unknown>;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
}

/** Whether the gateway accepts work now. Liveness needs no check: any response shows it. */
export function createReadiness({
  opened,
  isStopping,
  ping,
  now,
}: ReadinessOptions): () => Promise<Readiness> {
  let isOpen = false;
  void opened.then(
    () => {
      isOpen = true;
    },
    () => {},
  );
  let asked: { readonly until: number; readonly answer: Promise<Readiness> } | null = null;
  return async () => {
    if (isStopping()) return 'stopping';
    if (!isOpen) return 'opening';
    if (!asked || asked.until < now()) asked = { until: now() + DEFAULTS.trustMs, answer: answers(ping) };
    return await asked.answer;
  };
}

async function answers(ping: () => Promise<unknown>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, DEFAULTS.patienceMs);
  });
  return await Promise.race([ping(), patience])
    .then(
      () => 'ready' as const,
      () => 'store_unavailable' as const,
    )
    .finally(() => clearTimeout(timer));
}
