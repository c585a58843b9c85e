import { randomUUID } from 'node:crypto';
import {
  type AddClientAuthentication,
  createPrivateKeyJwtAuth,
  DpopSession,
  generateDpopKeyPair,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  requestJwtAuthorizationGrant,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { JWK } from 'jose';
import type { IdentityProvider, JsonObject, ServerAuth, TokenStore } from '../../engine/ports.ts';
import { oauthFetch } from './bounded-fetch.ts';
import { currentIdentity, type Identity, readToken, registrationAt } from './enterprise-identity.ts';
import { UpstreamFault, unauthorized } from './failure.ts';

/** A stored login. It is bound to the server's address: a token is never sent to a changed one. */
interface Credentials {
  readonly url: string;
  readonly redirectUrl?: string;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly discovery?: OAuthDiscoveryState;
  /** Of the person at the identity provider of their company. */
  readonly identity?: Identity;
  /** The private key that tokens are bound to. */
  readonly dpopKey?: JWK;
  /** Scopes the server reported as missing; the next login requests them. */
  readonly missingScope?: string;
}

/** The browser of a person who logs in. */
export interface Visitor {
  readonly redirectUrl: string;
  redirect(url: URL): void;
}

export type OAuthSettings = Exclude<ServerAuth, { kind: 'bearer' }>;

export interface OAuthLoginOptions {
  readonly server: string;
  readonly url: string;
  readonly auth: OAuthSettings;
  readonly tokens: TokenStore;
  readonly visitor?: Visitor;
}

/** Changes are serialized: connections and a login may change the same credentials. */
const turns = new WeakMap<TokenStore, Promise<unknown>>();

/** Never visited; without a redirect address the SDK assumes a machine-to-machine grant. */
const NOWHERE = 'http://127.0.0.1/';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** That of the SDK's own key pairs; a stored key keeps it. */
const DPOP_ALGORITHM = 'ES256';

/** A login in the token store as the SDK's provider, for all grants. */
export class OAuthLogin implements OAuthClientProvider {
  readonly expectedState = randomUUID();
  /** Absent with a configured client, which must not be replaced by a newly registered one. */
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => Promise<void>;
  /** Absent without a private key: then the SDK sends the secret, if there is one. */
  readonly addClientAuthentication?: AddClientAuthentication;
  /** Absent: tokens are not bound to a key. */
  readonly dpop?: () => Promise<DpopSession>;
  readonly #options: OAuthLoginOptions;
  #dpopSession: Promise<DpopSession> | null = null;
  /** Where a grant of the identity provider is used, and for what. */
  #authorizationServer = '';
  #resource = '';
  /** The token of the platform that was sent last, and whether it was refused. */
  #assertion = '';
  #isRefused = false;
  /** Belongs to this login only: others may start and fail meanwhile. */
  #verifier = '';

  constructor(options: OAuthLoginOptions) {
    this.#options = options;
    const { auth } = options;
    if (auth.clientId === undefined) this.saveClientInformation = (client) => this.#write({ client });
    if (auth.dpop) this.dpop = () => (this.#dpopSession ??= this.#openDpopSession());
    if (auth.kind === 'client_credentials' && auth.privateKey) {
      const { clientId, privateKey } = auth;
      this.addClientAuthentication = async (...request) => {
        const key = { privateKey: await readToken(privateKey.file), alg: privateKey.algorithm };
        await createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, ...key })(...request);
      };
    }
  }

  get redirectUrl(): string | undefined {
    if (this.#options.auth.kind !== 'authorization_code') return undefined;
    return this.#options.visitor?.redirectUrl ?? NOWHERE;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { auth } = this.#options;
    const secret = clientSecretOf(auth);
    const isSigned = this.addClientAuthentication !== undefined;
    return {
      client_name: 'PML',
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      ...grantOf(auth),
      token_endpoint_auth_method: isSigned
        ? 'private_key_jwt'
        : secret === undefined
          ? 'none'
          : 'client_secret_basic',
      ...(auth.scope !== undefined && { scope: auth.scope }),
    };
  }

  state(): string {
    return this.expectedState;
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { auth } = this.#options;
    if (auth.clientId === undefined) return await this.#registeredClient();
    const secret = clientSecretOf(auth);
    return {
      client_id: auth.clientId,
      ...(secret !== undefined && { client_secret: secret }),
      ...(auth.kind !== 'authorization_code' && auth.issuer !== undefined && { issuer: auth.issuer }),
    };
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.#read()).tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    return this.#write({ tokens, missingScope: undefined });
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { visitor, server } = this.#options;
    if (visitor) return visitor.redirect(url);
    const missingScope = url.searchParams.get('scope');
    if (missingScope !== null) await this.#write({ missingScope });
    throw new UpstreamFault(unauthorized(server));
  }

  async missingScope(): Promise<string | undefined> {
    return (await this.#read()).missingScope;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    return this.#write({ discovery });
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#read()).discovery;
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'verifier') this.#verifier = '';
    else if (scope === 'all') {
      await this.#options.tokens.delete(this.#options.server);
      this.#dpopSession = null;
    } else await this.#write({ [scope]: undefined });
    if (scope === 'tokens') this.#isRefused = true;
  }

  saveAuthorizationServerUrl(url: string): void {
    this.#authorizationServer = url;
  }

  saveResourceUrl(url: string): void {
    this.#resource = url;
  }

  saveIdentity(identity: Identity): Promise<void> {
    return this.#write({ identity });
  }

  async prepareTokenRequest(scope?: string): Promise<URLSearchParams | undefined> {
    const { auth } = this.#options;
    if (auth.kind === 'authorization_code') return undefined;
    const wanted = scope ?? auth.scope;
    const grant =
      auth.kind === 'client_credentials'
        ? { grant_type: auth.kind }
        : { grant_type: JWT_BEARER, assertion: await this.#assertionFor(auth, wanted) };
    return new URLSearchParams({ ...grant, ...(wanted && { scope: wanted }) });
  }

  async #assertionFor(
    auth: Extract<OAuthSettings, { kind: 'enterprise' | 'workload' }>,
    scope: string | undefined,
  ): Promise<string> {
    if (auth.kind === 'enterprise') {
      const { identity: kept } = await this.#read();
      const identity = await currentIdentity(auth.idp, kept);
      if (!identity) throw new UpstreamFault(unauthorized(this.#options.server));
      if (identity !== kept && auth.idp.idTokenFile === undefined) await this.saveIdentity(identity);
      if (this.#resource === '') throw new Error('the server does not say which resource it is (RFC 9728)');
      const asked = { audience: this.#authorizationServer, resource: this.#resource, scope };
      return await identityGrant(auth.idp, identity, asked);
    }
    const assertion = await readToken(auth.tokenFile);
    // The SDK tries again after a refusal; the same token would be refused again.
    if (this.#isRefused && assertion === this.#assertion) {
      throw new Error(`the authorization server refused the token in ${auth.tokenFile}`);
    }
    this.#assertion = assertion;
    this.#isRefused = false;
    return assertion;
  }

  /** The key is stored with the tokens that are bound to it: they outlive this process. */
  async #openDpopSession(): Promise<DpopSession> {
    const { calculateJwkThumbprint, exportJWK, importJWK } = await import('jose');
    const { dpopKey } = await this.#read();
    if (!dpopKey) {
      const keyPair = await generateDpopKeyPair({ alg: DPOP_ALGORITHM, extractable: true });
      await this.#write({ dpopKey: await exportJWK(keyPair.privateKey) });
      return await DpopSession.create({ keyPair });
    }
    const { d: _, ...publicJwk } = dpopKey;
    const keyPair = {
      privateKey: (await importJWK(dpopKey, DPOP_ALGORITHM)) as CryptoKey,
      publicKey: (await importJWK(publicJwk, DPOP_ALGORITHM)) as CryptoKey,
      publicJwk,
      thumbprint: await calculateJwkThumbprint(publicJwk, 'sha256'),
      alg: DPOP_ALGORITHM,
    } as const;
    return await DpopSession.create({ keyPair });
  }

  /** Only an explicit login registers PML: it has a browser to return to. */
  async #registeredClient(): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = await this.#read();
    const { visitor, server } = this.#options;
    if (!client && !visitor) throw new UpstreamFault(unauthorized(server));
    return client;
  }

  async #read(): Promise<Credentials> {
    const { tokens, server, url, visitor } = this.#options;
    const kept = (await tokens.get(server)) as unknown as Credentials | null;
    if (kept?.url !== url) return { url };
    // A registration is only valid for its redirect addresses.
    const { client: _, ...rest } = kept;
    return visitor && kept.redirectUrl !== visitor.redirectUrl ? rest : kept;
  }

  async #write(change: Partial<Record<keyof Credentials, unknown>>): Promise<void> {
    const { tokens, server, visitor } = this.#options;
    const redirect = visitor ? { redirectUrl: visitor.redirectUrl } : {};
    const written = (turns.get(tokens) ?? Promise.resolve()).then(async () => {
      await tokens.set(server, { ...(await this.#read()), ...redirect, ...change } as JsonObject);
    });
    turns.set(
      tokens,
      written.catch(() => {}),
    );
    await written;
  }
}

function clientSecretOf(auth: OAuthSettings): string | undefined {
  return auth.kind === 'workload' ? undefined : auth.clientSecret;
}

function grantOf({ kind }: OAuthSettings): Pick<OAuthClientMetadata, 'grant_types' | 'response_types'> {
  if (kind === 'authorization_code')
    return { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
  return { grant_types: [kind === 'client_credentials' ? kind : JWT_BEARER] };
}

interface GrantRequest {
  /** Issuer of the authorization server that takes the grant. */
  readonly audience: string;
  readonly resource: string;
  readonly scope: string | undefined;
}

/** Exchanges the ID token for a grant that one authorization server takes (RFC 8693; "ID-JAG"). */
async function identityGrant(
  idp: IdentityProvider,
  { idToken }: Identity,
  { audience, resource, scope }: GrantRequest,
): Promise<string> {
  const { clientId, clientSecret } = idp;
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    tokenEndpoint: idp.tokenUrl ?? (await registrationAt(idp)).metadata.token_endpoint,
    audience,
    resource,
    idToken,
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(scope !== undefined && { scope }),
    fetchFn: oauthFetch,
  });
  return jwtAuthGrant;
}
