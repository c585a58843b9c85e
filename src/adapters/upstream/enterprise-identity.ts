import { readFile } from 'node:fs/promises';
import {
  discoverAuthorizationServerMetadata,
  exchangeAuthorization,
  type OAuthTokens,
  refreshAuthorization,
  startAuthorization,
} from '@modelcontextprotocol/client';
import type { IdentityProvider } from '../../engine/ports.ts';
import { oauthFetch } from './bounded-fetch.ts';

const DEFAULTS = {
  /** An ID token is renewed when it expires within this time: the exchange and clocks need some. */
  remainingMs: 30_000,
};

/** A person's login at the identity provider of their company. It is bound to provider and client. */
export interface Identity {
  readonly issuer: string;
  readonly clientId: string;
  readonly idToken: string;
  readonly refreshToken?: string;
}

export interface IdentityLogin {
  readonly authorizationUrl: URL;
  /** `iss` is the issuer that the answer names; null: none. */
  finish(code: string, iss: string | null): Promise<Identity>;
}

/** A login at the identity provider in a browser: OpenID Connect with a code and PKCE. */
export async function beginIdentityLogin(
  idp: IdentityProvider,
  redirectUrl: string,
  state: string,
): Promise<IdentityLogin> {
  const known = await registrationAt(idp);
  const offline = known.metadata.scopes_supported?.includes('offline_access') ? ' offline_access' : '';
  const { authorizationUrl, codeVerifier } = await startAuthorization(idp.issuer, {
    ...known,
    redirectUrl,
    state,
    scope: `openid${offline}`,
  });
  const finish = async (authorizationCode: string, iss: string | null) => {
    const tokens = await exchangeAuthorization(idp.issuer, {
      ...known,
      authorizationCode,
      codeVerifier,
      redirectUri: redirectUrl,
      fetchFn: oauthFetch,
      ...(iss !== null && { iss }),
    });
    return await identityIn(tokens, idp);
  };
  return { authorizationUrl, finish };
}

/** With an ID token that is still valid; null when the person has to log in. */
export async function currentIdentity(
  idp: IdentityProvider,
  kept: Identity | undefined,
): Promise<Identity | null> {
  const { issuer, clientId, idTokenFile } = idp;
  if (idTokenFile !== undefined) return { issuer, clientId, idToken: await readToken(idTokenFile) };
  if (kept?.issuer !== issuer || kept.clientId !== clientId) return null;
  const { decodeJwt } = await import('jose');
  const { exp = 0 } = decodeJwt(kept.idToken);
  if (exp * 1_000 > Date.now() + DEFAULTS.remainingMs) return kept;
  if (kept.refreshToken === undefined) return null;
  const tokens = await refreshAuthorization(issuer, {
    ...(await registrationAt(idp)),
    refreshToken: kept.refreshToken,
    fetchFn: oauthFetch,
  });
  // A provider need not return a new ID token (OpenID Connect Core, 12.2).
  return tokens.id_token === undefined ? null : await identityIn(tokens, idp);
}

/** A token in a file; read each time, because another program replaces it before it expires. */
export async function readToken(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}

export async function registrationAt({ issuer, clientId, clientSecret }: IdentityProvider) {
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: oauthFetch });
  if (!metadata) throw new Error(`the identity provider ${issuer} publishes no metadata`);
  const secret = clientSecret !== undefined && { client_secret: clientSecret };
  return { metadata, clientInformation: { client_id: clientId, ...secret } };
}

/**
 * The token came from the provider itself, so its signature needs no check (OpenID Connect Core, 3.1.3.7); the
 * provider checks it again at the exchange.
 */
async function identityIn(
  { id_token: idToken, refresh_token: refreshToken }: OAuthTokens,
  { issuer, clientId }: IdentityProvider,
): Promise<Identity> {
  if (idToken === undefined) throw new Error(`the identity provider ${issuer} returned no ID token`);
  const { decodeJwt } = await import('jose');
  const { iss, aud = [] } = decodeJwt(idToken);
  if (iss !== issuer || ![aud].flat().includes(clientId)) {
    throw new Error(`the ID token is not from ${issuer}, or not for the client ${clientId}`);
  }
  return { issuer, clientId, idToken, ...(refreshToken !== undefined && { refreshToken }) };
}
