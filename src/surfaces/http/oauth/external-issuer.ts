import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { IssuerSettings } from '../../../engine/ports.ts';

const DEFAULTS = {
  /** Milliseconds for one request to the issuer. */
  timeoutMs: 5_000,
  /** Milliseconds between two fetches of its keys because of an unknown one: strangers can name any. */
  cooldownMs: 10_000,
  /** Milliseconds after which its keys are fetched again in any case. */
  keysMs: 10 * 60_000,
  /** Seconds that its clock may differ. */
  skew: 30,
};

export interface VerifiedToken {
  /** Name of the key its user acts with. */
  readonly keyName: string;
  readonly clientId: string;
  readonly scopes: ReadonlySet<string>;
}

/** Tokens that another authorization server signed. */
export interface ExternalIssuer {
  /** Null if the token is invalid, is for another audience, or its user has no key. */
  verify(token: string, resource: string): Promise<VerifiedToken | null>;
}

export function createExternalIssuer(settings: IssuerSettings): ExternalIssuer {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | null = null;
  const keysOfIssuer = async () => {
    keys ??= keySet(settings);
    return await keys.catch((error: unknown) => {
      keys = null;
      throw error;
    });
  };
  return {
    async verify(token, resource) {
      // Only a signed token can be valid; what cannot be one costs no request to the issuer.
      if (token.split('.').length !== 3) return null;
      let claims: JWTPayload;
      try {
        const { payload } = await jwtVerify(token, await keysOfIssuer(), {
          issuer: settings.url,
          audience: settings.audience ?? resource,
          algorithms: [...settings.algorithms],
          requiredClaims: ['exp', settings.userClaim],
          clockTolerance: DEFAULTS.skew,
        });
        claims = payload;
      } catch (error) {
        if (error instanceof errors.JWKSTimeout) throw unreachable(settings, error);
        if (error instanceof errors.JOSEError) return null;
        throw error instanceof PmlError ? error : unreachable(settings, error);
      }
      const keyName = keyNameOf(settings, claims);
      const clientId = claims.client_id ?? claims.azp;
      return keyName === null
        ? null
        : { keyName, clientId: String(clientId ?? settings.url), scopes: scopesOf(claims) };
    },
  };
}

async function keySet(settings: IssuerSettings): Promise<ReturnType<typeof createRemoteJWKSet>> {
  return createRemoteJWKSet(new URL(settings.jwksUrl ?? (await jwksUrlOf(settings))), {
    timeoutDuration: DEFAULTS.timeoutMs,
    cooldownDuration: DEFAULTS.cooldownMs,
    cacheMaxAge: DEFAULTS.keysMs,
  });
}

async function jwksUrlOf(settings: IssuerSettings): Promise<string> {
  const metadata = await discoverAuthorizationServerMetadata(settings.url, {
    fetchFn: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(DEFAULTS.timeoutMs) }),
  }).catch((error: unknown) => {
    throw unreachable(settings, error);
  });
  // Metadata of another issuer could name keys of its own.
  if (metadata?.issuer !== settings.url || typeof metadata.jwks_uri !== 'string')
    throw unreachable(settings, new Error('its metadata names another issuer, or no keys'));
  return metadata.jwks_uri;
}

function keyNameOf({ users, userClaim }: IssuerSettings, claims: JWTPayload): string | null {
  const user = claims[userClaim];
  if (typeof user !== 'string') return null;
  if (userClaim === 'email' && claims.email_verified === false) return null;
  const name = user !== '*' && Object.hasOwn(users, user) ? user : '*';
  return Object.hasOwn(users, name) ? (users[name] ?? null) : null;
}

/** `scope` as in RFC 9068; some issuers have a list in `scp`. */
function scopesOf({ scope, scp }: JWTPayload): ReadonlySet<string> {
  const given = scope ?? scp;
  if (Array.isArray(given)) return new Set(given.map(String));
  return new Set(typeof given === 'string' ? given.split(' ') : []);
}

function unreachable({ url }: IssuerSettings, error: unknown): PmlError {
  return new PmlError('not_available', `The keys of ${url} cannot be read: ${PmlError.from(error).message}`, {
    hint: 'Check pml.http.oauth.issuer, and that this machine can reach the issuer.',
    cause: error,
  });
}
