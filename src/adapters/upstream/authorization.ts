import type { FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ServerAuth, ServerSettings, TokenStore } from '../../engine/ports.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { OAuthLogin } from './oauth-login.ts';

export type HttpSettings = Extract<ServerSettings, { transport: 'http' | 'sse' }>;
type OAuthSettings = Extract<ServerAuth, { kind: 'client_credentials' | 'authorization_code' }>;

interface Access {
  readonly requestInit: RequestInit;
  readonly authProvider?: OAuthClientProvider;
  readonly fetch: FetchLike;
}

/** How requests to the server carry proof of who we are, as options of the SDK's transports. */
export async function authorization(settings: HttpSettings, tokens: TokenStore): Promise<Access> {
  const { auth, headers, name: server, url } = settings;
  const bearer = auth?.kind === 'bearer' ? { authorization: `Bearer ${auth.token}` } : {};
  const requestInit = { headers: { ...headers, ...bearer } };
  const oauth = oauthSettings(settings);
  // A server that was not configured for OAuth may want it all the same: then a login was made for it.
  if (!oauth || (!auth && (await tokens.get(server)) === null))
    return { requestInit, fetch: boundedFetch(fetch) };
  const login = new OAuthLogin({ server, url, auth: oauth, tokens });
  return { requestInit, authProvider: login, fetch: boundedFetch(authorizedFetch(server, url, login)) };
}

/** Null when the proof is a fixed one. */
export function oauthSettings({ auth }: HttpSettings): OAuthSettings | null {
  if (auth?.kind === 'bearer') return null;
  return auth ?? { kind: 'authorization_code' };
}
