import type { Hono } from 'hono';
import type { RemoteProcedures } from '../../src/engine/ports.ts';
import { type Access, createAccess } from '../../src/surfaces/http/access.ts';
import { createApp } from '../../src/surfaces/http/create-app.ts';
import { hostsOf } from '../../src/surfaces/http/guard.ts';
import { type Listener, listen } from '../../src/surfaces/http/listen.ts';
import type { PageHandlers } from '../../src/surfaces/http/page.ts';

/** The real HTTP surface on a free port, with whatever stands behind it. */
export async function startHttp(
  options: { procedures?: RemoteProcedures; api?: Hono; page?: PageHandlers } = {},
): Promise<{
  listener: Listener;
  token: string;
  access: Access;
}> {
  const token = 'token-for-tests';
  const access = createAccess(token);
  let port = 0;
  const app = createApp({
    access,
    allowedHosts: () => hostsOf('127.0.0.1', port),
    procedures: options.procedures ?? {},
    ...(options.api && { api: options.api }),
    logger: { log: () => {} },
    now: () => performance.now(),
    about: () => ({ version: 'test' }),
    ...(options.page && { page: options.page }),
  });
  const listener = await listen(app, '127.0.0.1', 0);
  port = listener.port;
  return { listener, token, access };
}
