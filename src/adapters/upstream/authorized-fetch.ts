import {
  auth,
  extractWWWAuthenticateParams,
  type FetchLike,
  isDpopNonceChallenge,
  type OAuthClientProvider,
  withDpopFromProvider,
} from '@modelcontextprotocol/client';
import type { ServerSettings, TokenStore } from '../../engine/ports.ts';
import { boundedFetch, oauthFetch } from './bounded-fetch.ts';
import { loginFailed, reasonOf, UpstreamFault } from './failure.ts';
import { OAuthLogin, type OAuthSettings } from './oauth-login.ts';

export type HttpSettings = Extract<ServerSettings, { transport: 'http' | 'sse' }>;

interface Access {
  readonly requestInit: RequestInit;
  readonly authProvider?: OAuthClientProvider;
  readonly fetch: FetchLike;
}

/**
 * A fetch that renews an expired token once for all concurrent requests: authorization servers that rotate
 * refresh tokens treat a second use as theft and revoke the login.
 */
function authorizedFetch(server: string, serverUrl: string, login: OAuthLogin): FetchLike {
  let turn: Promise<void> = Promise.resolve();
  // The transport signs what it sends, but not what is sent again here with another token.
  const resend: FetchLike = login.dpop ? withDpopFromProvider(login)(fetch) : fetch;

  const renew = async (refused: Response, sent: string | undefined): Promise<void> => {
    // Another request has renewed the token since this one was sent.
    if ((await login.tokens())?.access_token !== sent) return;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refused);
    const asked = {
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    };
    try {
      await auth(login, { serverUrl, fetchFn: oauthFetch, ...asked });
    } catch (error) {
      if (error instanceof UpstreamFault) throw error;
      throw new UpstreamFault(loginFailed(server, reasonOf(error)), error);
    }
  };

  return async (url, init) => {
    const response = await fetch(url, init);
    const headers = new Headers(init?.headers);
    const sent = /^(?:Bearer|DPoP) (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
    // The SDK also sends its requests to the authorization server through this fetch.
    const isOurs = sent !== undefined || headers.get('accept')?.includes('text/event-stream');
    if (response.status !== 401 || !isOurs) return response;
    // The token is valid: the transport repeats its proof with the server's nonce.
    if (sent !== undefined && isDpopNonceChallenge(response)) return response;
    const renewal = turn.then(() => renew(response, sent));
    turn = renewal.catch(() => {});
    await renewal;
    await response.body?.cancel();
    headers.set('authorization', `Bearer ${(await login.tokens())?.access_token}`);
    return resend(url, { ...init, headers });
  };
}

/** The credentials of requests to the server, as options of the SDK's transports. */
export async function authorization(settings: HttpSettings, tokens: TokenStore): Promise<Access> {
  const { auth, headers, name: server, url } = settings;
  const bearer = auth?.kind === 'bearer' ? { authorization: `Bearer ${auth.token}` } : {};
  const requestInit = { headers: { ...headers, ...bearer } };
  const oauth = oauthSettings(settings);
  // A server without OAuth in its settings may still require it; then a stored login exists.
  if (!oauth || (!auth && (await tokens.get(server)) === null))
    return { requestInit, fetch: boundedFetch(fetch) };
  const login = new OAuthLogin({ server, url, auth: oauth, tokens });
  return { requestInit, authProvider: login, fetch: boundedFetch(authorizedFetch(server, url, login)) };
}

/** Null when the server uses a fixed token. */
export function oauthSettings({ auth }: HttpSettings): OAuthSettings | null {
  if (auth?.kind === 'bearer') return null;
  return auth ?? { kind: 'authorization_code' };
}
