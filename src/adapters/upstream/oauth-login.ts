import { randomUUID } from 'node:crypto';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { JsonObject, ServerAuth, TokenStore } from '../../engine/ports.ts';
import { UpstreamFault, unauthorized } from './failure.ts';

/** A stored login. It is bound to the server's address: a token is never sent to a changed one. */
interface Credentials {
  readonly url: string;
  readonly redirectUrl?: string;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly discovery?: OAuthDiscoveryState;
  /** Scopes the server reported as missing; the next login requests them. */
  readonly missingScope?: string;
}

/** The browser of a person who logs in. */
export interface Visitor {
  readonly redirectUrl: string;
  redirect(url: URL): void;
}

export interface OAuthLoginOptions {
  readonly server: string;
  readonly url: string;
  readonly auth: Extract<ServerAuth, { kind: 'client_credentials' | 'authorization_code' }>;
  readonly tokens: TokenStore;
  readonly visitor?: Visitor;
}

/** Changes are serialized: connections and a login may change the same credentials. */
const turns = new WeakMap<TokenStore, Promise<unknown>>();

/** Never visited; without a redirect address the SDK assumes a machine-to-machine grant. */
const NOWHERE = 'http://127.0.0.1/';

/** A login in the token store as the SDK's provider, for both grants. */
export class OAuthLogin implements OAuthClientProvider {
  readonly expectedState = randomUUID();
  /** Absent with a configured client, which must not be replaced by a newly registered one. */
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => Promise<void>;
  readonly #options: OAuthLoginOptions;
  /** Belongs to this login only: others may start and fail meanwhile. */
  #verifier = '';

  constructor(options: OAuthLoginOptions) {
    this.#options = options;
    if (options.auth.clientId === undefined) this.saveClientInformation = (client) => this.#write({ client });
  }

  get redirectUrl(): string | undefined {
    if (this.#options.auth.kind === 'client_credentials') return undefined;
    return this.#options.visitor?.redirectUrl ?? NOWHERE;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { auth } = this.#options;
    const machine = auth.kind === 'client_credentials';
    return {
      client_name: 'PML',
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      grant_types: machine ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
      ...(!machine && { response_types: ['code'] }),
      token_endpoint_auth_method: auth.clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...(auth.scope !== undefined && { scope: auth.scope }),
    };
  }

  state(): string {
    return this.expectedState;
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { auth } = this.#options;
    if (auth.clientId === undefined) return await this.#registeredClient();
    return {
      client_id: auth.clientId,
      ...(auth.clientSecret !== undefined && { client_secret: auth.clientSecret }),
      ...(auth.kind === 'client_credentials' && auth.issuer !== undefined && { issuer: auth.issuer }),
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
    else if (scope === 'all') await this.#options.tokens.delete(this.#options.server);
    else await this.#write({ [scope]: undefined });
  }

  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.#options.auth.kind !== 'client_credentials') return undefined;
    const wanted = scope ?? this.#options.auth.scope;
    return new URLSearchParams({ grant_type: 'client_credentials', ...(wanted && { scope: wanted }) });
  }

  /** Without a browser to return to there is no registration: an explicit login does that. */
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
