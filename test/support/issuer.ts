import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { createBrowser, pkce, REDIRECT } from './oauth-gateway.ts';

const CHILD = fileURLToPath(new URL('./children/issuer.ts', import.meta.url));

export interface Issuer {
  readonly url: string;
  /** The key it signs with now, private part included. */
  readonly key: () => JWK;
  /** Signs with a new key from now on, and forgets the old one. */
  rotate(): Promise<void>;
  /** An access token for this person, by the whole flow. */
  tokenFor(user: string, resource: string): Promise<string>;
  close(): Promise<void>;
}

/** A real authorization server in a process of its own: `oidc-provider`, as a company would run one. */
export async function startIssuer(): Promise<Issuer> {
  const child: ChildProcess = fork(CHILD, { silent: true });
  await once(child, 'message');
  let key: JWK = {};
  let count = 0;
  const use = async (): Promise<string> => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    key = { ...(await exportJWK(privateKey)), kid: `key-${++count}`, alg: 'ES256', use: 'sig' };
    const told = once(child, 'message');
    child.send({ keys: [key] });
    const [{ url }] = (await told) as [{ url: string }];
    return url;
  };
  const url = await use();
  return {
    url,
    key: () => key,
    rotate: async () => void (await use()),
    async tokenFor(user, resource) {
      const browser = createBrowser(url);
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
      let next = String((await browser.get(`${url}/auth?${asked}`)).headers.get('location'));
      // Its own pages: a login by any name, then a consent.
      for (const fields of [{ prompt: 'login', login: user, password: 'x' }, { prompt: 'consent' }]) {
        const resumed = await browser.post(next, new URLSearchParams(fields as Record<string, string>));
        next = String((await browser.get(String(resumed.headers.get('location')))).headers.get('location'));
      }
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
