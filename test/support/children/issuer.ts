/**
 * `node issuer.ts`: an authorization server of somebody else, with a fork's channel. Its parent sends the keys to sign
 * with, at the start and to rotate them, and gets the address and what is asked of the token endpoint; everybody may log
 * in by any name. It is also the identity provider of a company, which exchanges ID tokens, and takes the grants
 * of another one, `trusts`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import Provider, { errors, type JWKS, type KoaContextWithOIDC } from 'oidc-provider';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'oauth-id-jag+jwt';

export interface IssuerSetup {
  readonly keys: JWKS['keys'];
  /** Issuer whose grants are taken. */
  readonly trusts?: string;
  readonly idTokenSeconds?: number;
  /** Public key of the client `signing`. */
  readonly clientKey?: JWKS['keys'][number];
}

const keysOf = (issuer: string) => createRemoteJWKSet(new URL(`${issuer}/jwks`));

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

process.on('message', ({ keys, trusts, idTokenSeconds = 3_600, clientKey }: IssuerSetup) => {
  const [key] = keys;
  const machine = { redirect_uris: [], response_types: [] };
  const provider = new Provider(url, {
    jwks: { keys },
    clients: [
      {
        client_id: 'hosted',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['https://client.example/callback'],
      },
      {
        client_id: 'pml-at-idp',
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token', EXCHANGE],
        redirect_uris: ['http://127.0.0.1:7777/callback'],
      },
      { ...machine, client_id: 'pml', client_secret: 'geheim und lang', grant_types: [JWT_BEARER] },
      { ...machine, client_id: 'pod', token_endpoint_auth_method: 'none', grant_types: [JWT_BEARER] },
      ...(clientKey
        ? [
            {
              ...machine,
              client_id: 'signing',
              token_endpoint_auth_method: 'private_key_jwt' as const,
              token_endpoint_auth_signing_alg: 'ES256' as const,
              jwks: { keys: [clientKey] },
              grant_types: ['client_credentials'],
            },
          ]
        : []),
    ],
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_context, resource) => ({
          scope: 'tools',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
        useGrantedResource: async () => true,
      },
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: ['ES256'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    ttl: { IdToken: idTokenSeconds },
  });

  const signed = async (claims: JWTPayload, typ: string) =>
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ, kid: String(key?.kid) })
      .setIssuer(url)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(await importJWK(key as object, 'ES256'));

  const exchange = async ({ oidc }: KoaContextWithOIDC) => {
    const { subject_token: token, audience, resource } = oidc.params as Record<string, string>;
    const idToken = { issuer: url, audience: String(oidc.client?.clientId) };
    const { payload } = await jwtVerify(String(token), keysOf(url), idToken);
    if (payload.sub === 'mallory') throw new errors.AccessDenied('the company does not allow this');
    const claims = { sub: String(payload.sub), aud: String(audience), client_id: 'pml', resource };
    return {
      access_token: await signed(claims, ID_JAG),
      issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      token_type: 'N_A',
      expires_in: 300,
    };
  };

  const bearer = async ({ oidc }: KoaContextWithOIDC) => {
    const { assertion, resource } = oidc.params as Record<string, string>;
    const isPod = oidc.client?.clientId === 'pod';
    const expected = { issuer: String(trusts), audience: url, ...(!isPod && { typ: ID_JAG }) };
    const { payload } = await jwtVerify(String(assertion), keysOf(String(trusts)), expected).catch(() => {
      throw new errors.InvalidGrant('the assertion is not valid');
    });
    if (!isPod && (payload.client_id !== oidc.client?.clientId || payload.resource !== resource)) {
      throw new errors.InvalidGrant('the assertion is for another client or resource');
    }
    const access = await signed({ sub: String(payload.sub), aud: String(resource) }, 'at+jwt');
    return { access_token: access, token_type: 'Bearer', expires_in: 300 };
  };

  const register = (
    name: string,
    answer: (context: KoaContextWithOIDC) => Promise<unknown>,
    parameters: readonly string[],
  ) =>
    provider.registerGrantType(
      name,
      async (context) => {
        context.body = (await answer(context)) as object;
      },
      [...parameters, 'resource', 'scope'],
    );
  register(EXCHANGE, exchange, ['subject_token', 'subject_token_type', 'requested_token_type', 'audience']);
  register(JWT_BEARER, bearer, ['assertion']);
  const tell = ({ oidc }: KoaContextWithOIDC, isGranted: boolean) =>
    process.send?.({ grant: String(oidc.params?.grant_type), isGranted });
  provider.on('grant.success', (context) => tell(context, true));
  provider.on('grant.error', (context) => tell(context, false));

  server.removeAllListeners('request');
  server.on('request', provider.callback());
  process.send?.({ url });
});
process.on('disconnect', () => process.exit());
process.send?.({ isReady: true });
