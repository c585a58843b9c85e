import { operationAnswers } from '../../src/operations/bridged-operations.ts';
import type { OperationContext } from '../../src/operations/operation-context.ts';
import { type AppOptions, createApp } from '../../src/surfaces/http/create-app.ts';
import { type Access, type AccessOptions, createAccess, hostsOf } from '../../src/surfaces/http/guard.ts';
import { type Listener, listen } from '../../src/surfaces/http/listen.ts';

export const OWNER_TOKEN = 'token-of-the-owner';

/** The real HTTP surface on a free port, in front of any gateway. */
export async function startHttp(
  options: Partial<Omit<AppOptions, 'access' | 'allowedHosts'>> = {},
  accessOptions: AccessOptions = {},
): Promise<{
  app: ReturnType<typeof createApp>;
  listener: Listener;
  token: string;
  access: Access;
}> {
  const token = OWNER_TOKEN;
  const access = createAccess(token, accessOptions);
  let port = 0;
  const app = createApp({
    access,
    allowedHosts: () => hostsOf('127.0.0.1', port),
    answerCall: operationAnswers([], {} as OperationContext),
    logger: { log: () => {} },
    now: () => performance.now(),
    about: () => ({ version: 'test' }),
    ...options,
  });
  const listener = await listen(app, '127.0.0.1', 0);
  port = listener.port;
  return { app, listener, token, access };
}
