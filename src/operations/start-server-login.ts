import { z } from 'zod';
import { operation } from './operation.ts';
import { valueFrom } from './operation-context.ts';

export const startServerLogin = operation({
  name: 'start_server_login',
  right: 'bridge',
  summary:
    'Starts an OAuth login to a server; returns the address to open in a browser, unless none is needed',
  input: z.strictObject({
    name: z.string().min(1),
    /** Redirect address for the browser. */
    redirect_url: z.string(),
    /** By default the login is shared by all users. */
    user: z.string().optional(),
  }),
  output: z.union([
    z.object({ done: z.literal(true) }),
    z.object({ done: z.literal(false), authorization_url: z.string() }),
  ]),
  async run({ gateway, serverLogins }, { name, redirect_url: redirectUrl, user }) {
    const login = valueFrom(await gateway.login(name, redirectUrl, user));
    if (login.done) return { done: true as const };
    serverLogins.set(loginKey(name, user), login.finish);
    return { done: false as const, authorization_url: login.authorizationUrl };
  },
});

/** One login at a time per server and user: a new one invalidates the old link. */
export function loginKey(server: string, user: string | undefined): string {
  return `${server} ${user ?? ''}`;
}
