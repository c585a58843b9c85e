import type { FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ServerAuth, ServerSettings, TokenStore } from '../../engine/ports.ts';
import { OAuthLogin } from './oauth-login.ts';
import { redeemOnce } from './redeem-once.ts';

export type HttpSettings = Extract<ServerSettings, { transport: 'http' | 'sse' }>;
type OAuthSettings = Extract<ServerAuth, { kind: 'client_credentials' | 'authorization_code' }>;

/** How requests to the server carry proof of who we are, as options of the SDK's transports. */
export async function authorization(
  settings: HttpSettings,
  tokens: TokenStore,
): Promise<{ requestInit: RequestInit; fetch: FetchLike; authProvider?: OAuthClientProvider }> {
  const { auth, headers, name: server, url } = settings;
  const bearer = auth?.kind === 'bearer' ? { authorization: `Bearer ${auth.token}` } : {};
  const login = oauthSettings(settings);
  // A server that was not configured for OAuth may want it all the same: then a login was made for it.
  const wanted = auth !== undefined || (await tokens.get(server)) !== null;
  return {
    requestInit: { headers: { ...headers, ...bearer } },
    fetch: redeemOnce((input, init) => fetch(input, init)),
    ...(login && wanted && { authProvider: new OAuthLogin({ server, url, auth: login, tokens }) }),
  };
}

/** Null when the proof is a fixed one. */
export function oauthSettings({ auth }: HttpSettings): OAuthSettings | null {
  if (auth?.kind === 'bearer') return null;
  return auth ?? { kind: 'authorization_code' };
}
