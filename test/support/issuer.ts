import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { IssuerSetup } from './children/issuer.ts';
import { createBrowser, pkce, REDIRECT } from './oauth-gateway.ts';

const CHILD = fileURLToPath(new URL('./children/issuer.ts', import.meta.url));

export interface Issuer {
  readonly url: string;
  /** The key it signs with now, private part included. */
  readonly key: () => JWK;
  /** Signs with a new key from now on, and forgets the old one. */
  rotate(): Promise<void>;
  /** What was asked of the token endpoint, in order: grant types, with `!` before those that were refused. */
  readonly grants: string[];
  /** An access token for this person, by the whole flow. */
  tokenFor(user: string, resource: string): Promise<string>;
  close(): Promise<void>;
}

/** What a person does on the issuer's own pages: a login by any name, then a consent. Where they are sent in the end. */
export async function passPages(authorizationUrl: string, user: string): Promise<string> {
  const browser = createBrowser(new URL(authorizationUrl).origin);
  let next = String((await browser.get(authorizationUrl)).headers.get('location'));
  for (const fields of [{ prompt: 'login', login: user, password: 'x' }, { prompt: 'consent' }]) {
    const resumed = await browser.post(next, new URLSearchParams(fields as Record<string, string>));
    next = String((await browser.get(String(resumed.headers.get('location')))).headers.get('location'));
  }
  return next;
}

/** A real authorization server in a process of its own: `oidc-provider`, as a company would run one. */
export async function startIssuer(setup: Omit<IssuerSetup, 'keys'> = {}): Promise<Issuer> {
  const child: ChildProcess = fork(CHILD, { silent: true });
  await once(child, 'message');
  const grants: string[] = [];
  const told = new EventEmitter();
  child.on('message', ({ grant, isGranted, url }: { grant?: string; isGranted?: boolean; url?: string }) => {
    if (grant !== undefined) grants.push(isGranted ? grant : `!${grant}`);
    else told.emit('url', url);
  });
  let key: JWK = {};
  let count = 0;
  const use = async (): Promise<string> => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    key = { ...(await exportJWK(privateKey)), kid: `key-${++count}`, alg: 'ES256', use: 'sig' };
    const ready = once(told, 'url');
    child.send({ ...setup, keys: [key] });
    const [url] = (await ready) as [string];
    return url;
  };
  const url = await use();
  return {
    url,
    grants,
    key: () => key,
    rotate: async () => void (await use()),
    async tokenFor(user, resource) {
      const { challenge, verifier } = pkce();
      const asked = new URLSearchParams({
        client_id: 'hosted',
        response_type: 'code',
        redirect_uri: REDIRECT,
        scope: 'openid tools',
        resource,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      const next = await passPages(`${url}/auth?${asked}`, user);
      const reply = await fetch(`${url}/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: 'hosted',
          code: String(new URL(next).searchParams.get('code')),
          redirect_uri: REDIRECT,
          code_verifier: verifier,
        }),
      });
      return String(((await reply.json()) as { access_token: string }).access_token);
    },
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
