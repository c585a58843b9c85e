import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type {
  ServerSettings,
  TokenStore,
  UpstreamFailure,
  UpstreamLogin,
  UpstreamReply,
} from '../../engine/ports.ts';
import { type HttpSettings, oauthSettings } from './authorized-fetch.ts';
import { oauthFetch } from './bounded-fetch.ts';
import { beginIdentityLogin } from './enterprise-identity.ts';
import { loginFailed, reasonOf, UpstreamFault } from './failure.ts';
import { OAuthLogin } from './oauth-login.ts';

export interface LoginOptions {
  readonly settings: ServerSettings;
  readonly tokens: TokenStore;
  readonly redirectUrl: string;
  onDone(): Promise<void>;
}

/** Logs in without a person if possible; otherwise returns the address to open in a browser. */
export async function beginLogin(options: LoginOptions): Promise<UpstreamLogin> {
  const { settings, tokens, redirectUrl, onDone } = options;
  const { name: server } = settings;
  if (settings.transport === 'stdio' || settings.transport === 'openapi')
    throw new UpstreamFault(noLogin(server));
  const oauth = oauthSettings(settings);
  if (!oauth) throw new UpstreamFault(noLogin(server));

  const { url } = settings;
  let destination: URL | undefined;
  const redirect = (to: URL) => {
    destination = to;
  };
  const login = new OAuthLogin({ server, url, auth: oauth, tokens, visitor: { redirectUrl, redirect } });
  // The authorization server's address may have changed since the last login.
  await login.invalidateCredentials('discovery');
  const missing = await login.missingScope();
  const scope = missing === undefined ? {} : { scope: missing };
  const common = { serverUrl: url, fetchFn: oauthFetch, ...(await challengeOf(settings)), ...scope };
  const grant = { ...common, forceReauthorization: true };
  /** Where the browser goes, and what its answer is exchanged for. */
  let begun: { readonly url: URL; exchange(code: string, iss: string | null): Promise<unknown> } | null;
  try {
    if (oauth.kind === 'enterprise' && oauth.idp.idTokenFile === undefined) {
      const identity = await beginIdentityLogin(oauth.idp, redirectUrl, login.expectedState);
      const exchange = async (code: string, iss: string | null) => {
        await login.saveIdentity(await identity.finish(code, iss));
        await auth(login, grant);
      };
      begun = { url: identity.authorizationUrl, exchange };
    } else {
      // An explicit login always starts a new one, perhaps with another account.
      await auth(login, grant);
      const exchange = (authorizationCode: string, iss: string | null) =>
        auth(login, { ...common, authorizationCode, ...(iss !== null && { iss }) });
      begun = destination ? { url: destination, exchange } : null;
    }
  } catch (error) {
    throw new UpstreamFault(loginFailed(server, reasonOf(error)), error);
  }
  if (!begun) {
    await onDone();
    return { done: true };
  }
  const { url: authorizationUrl, exchange } = begun;
  const finish = async (callbackUrl: string): Promise<UpstreamReply<null>> => {
    const answer = new URL(callbackUrl).searchParams;
    const code = answer.get('code');
    const refuse = (reason: string) => ({ ok: false, error: loginFailed(server, reason) }) as const;
    if (answer.get('state') !== login.expectedState) return refuse('the response belongs to another login');
    if (code === null) return refuse(answer.get('error') ?? 'the response contains no code');
    try {
      await exchange(code, answer.get('iss'));
    } catch (error) {
      return refuse(reasonOf(error));
    }
    await onDone();
    return { ok: true, value: null };
  };
  return { done: false, authorizationUrl: authorizationUrl.href, finish };
}

/** The server's 401 response names its authorization server and the scopes to request. */
async function challengeOf({
  url,
  transport,
}: HttpSettings): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' });
  const knock = transport === 'sse' ? { headers } : { method: 'POST', headers, body };
  const response = await fetch(url, knock).catch(() => null);
  await response?.body?.cancel();
  if (response?.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

function noLogin(server: string): UpstreamFailure {
  return {
    code: 'usage',
    errorType: 'VALIDATION',
    message: `Server "${server}" does not support login`,
    hint: 'Only HTTP servers without a fixed token support login.',
  };
}
