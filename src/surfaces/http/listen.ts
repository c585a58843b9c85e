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

const DEFAULTS = { closeGraceMs: 2_000 };

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
