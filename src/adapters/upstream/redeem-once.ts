import type { FetchLike } from '@modelcontextprotocol/client';

const DEFAULTS = { keepMs: 60_000 };
const REFRESH = 'refresh:';

/**
 * A fetch that shares one token request among all who need it at once. A refresh token is redeemed
 * only once at all: servers that rotate them take a second use for theft and revoke the login. Who
 * comes late, having read the old token before the new one was kept, gets the same answer.
 */
export function redeemOnce(fetch: FetchLike, keepMs: number = DEFAULTS.keepMs): FetchLike {
  const redeemed = new Map<string, Promise<Response>>();
  return async (url, init) => {
    const grant = grantIn(init?.body);
    if (grant === null) return fetch(url, init);
    let answer = redeemed.get(grant);
    if (!answer) {
      answer = fetch(url, init);
      redeemed.set(grant, answer);
      const forget = () => redeemed.delete(grant);
      const lasts = grant.startsWith(REFRESH);
      answer.then(({ ok }) => (ok && lasts ? setTimeout(forget, keepMs).unref() : forget()), forget);
    }
    return (await answer).clone();
  };
}

/** What the request redeems; null for requests that may be repeated. */
function grantIn(body: unknown): string | null {
  if (typeof body !== 'string' && !(body instanceof URLSearchParams)) return null;
  const form = new URLSearchParams(body);
  switch (form.get('grant_type')) {
    case 'refresh_token':
      return `${REFRESH}${form.get('refresh_token')}`;
    case 'client_credentials':
      return form.toString();
    default:
      return null;
  }
}
