import { auth, extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import { boundedFetch } from './bounded-fetch.ts';
import { loginFailed, reasonOf, UpstreamFault } from './failure.ts';
import type { OAuthLogin } from './oauth-login.ts';

/** For requests to an authorization server: what carries a secret goes nowhere else. */
export const oauthFetch: FetchLike = boundedFetch((url, init) =>
  fetch(url, init?.method === 'POST' ? { ...init, redirect: 'error' } : init),
);

/**
 * A fetch that renews an expired token, once for all requests that meet it: authorization servers
 * that rotate refresh tokens take a second use for theft and revoke the login.
 */
export function authorizedFetch(server: string, serverUrl: string, login: OAuthLogin): FetchLike {
  let turn: Promise<void> = Promise.resolve();

  const renew = async (refused: Response, sent: string | undefined): Promise<void> => {
    // Somebody else's turn has brought a new token since this request was sent.
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
    const sent = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
    // The SDK sends its requests to the authorization server through here as well.
    const isOurs = sent !== undefined || headers.get('accept')?.includes('text/event-stream');
    if (response.status !== 401 || !isOurs) return response;
    const renewal = turn.then(() => renew(response, sent));
    turn = renewal.catch(() => {});
    await renewal;
    await response.body?.cancel();
    headers.set('authorization', `Bearer ${(await login.tokens())?.access_token}`);
    return fetch(url, { ...init, headers });
  };
}
