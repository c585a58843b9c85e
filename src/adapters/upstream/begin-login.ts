import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type { ServerAuth, TokenStore, UpstreamLogin, UpstreamReply } from '../../engine/ports.ts';
import { oauthFetch } from './authorized-fetch.ts';
import { loginFailed, reasonOf, UpstreamFault } from './failure.ts';
import { OAuthLogin } from './oauth-login.ts';

export interface LoginOptions {
  readonly server: string;
  readonly url: string;
  readonly auth: Extract<ServerAuth, { kind: 'client_credentials' | 'authorization_code' }>;
  readonly tokens: TokenStore;
  readonly redirectUrl: string;
}

/** Logs in as far as that goes without a person, else answers where to send the browser. */
export async function beginLogin(options: LoginOptions): Promise<UpstreamLogin> {
  let destination: URL | undefined;
  const redirect = (url: URL) => {
    destination = url;
  };
  const login = new OAuthLogin({ ...options, visitor: { redirectUrl: options.redirectUrl, redirect } });
  // The authorization server may have moved since the last login.
  await login.invalidateCredentials('discovery');
  const challenge = await challengeOf(options);
  const common = { serverUrl: options.url, fetchFn: oauthFetch, ...challenge };
  try {
    if ((await auth(login, common)) === 'AUTHORIZED' || !destination) return { done: true };
  } catch (error) {
    throw new UpstreamFault(loginFailed(options.server, reasonOf(error)), error);
  }
  return {
    done: false,
    authorizationUrl: destination.href,
    finish: async (callbackUrl): Promise<UpstreamReply<null>> => {
      const answer = new URL(callbackUrl).searchParams;
      const code = answer.get('code');
      const iss = answer.get('iss');
      if (answer.get('state') !== login.expectedState) {
        return { ok: false, error: loginFailed(options.server, 'the answer belongs to another login') };
      }
      if (code === null) {
        return {
          ok: false,
          error: loginFailed(options.server, answer.get('error') ?? 'there is no code in the answer'),
        };
      }
      try {
        await auth(login, { ...common, authorizationCode: code, ...(iss !== null && { iss }) });
        return { ok: true, value: null };
      } catch (error) {
        return { ok: false, error: loginFailed(options.server, reasonOf(error)) };
      }
    },
  };
}

/** How the server refuses a stranger says where its authorization server is and what to ask there. */
async function challengeOf({ url }: LoginOptions): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } }).catch(() => null);
  await response?.body?.cancel();
  if (response?.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}
