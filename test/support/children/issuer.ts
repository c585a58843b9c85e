/**
 * `node issuer.ts`: an authorization server of somebody else, with a fork's channel. Its parent sends the keys to sign
 * with, at the start and to rotate them, and gets the address; everybody may log in by any name.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type JWKS } from 'oidc-provider';

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

process.on('message', (keys: JWKS) => {
  const provider = new Provider(url, {
    jwks: keys,
    clients: [
      {
        client_id: 'hosted',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['https://client.example/callback'],
      },
    ],
    features: {
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
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
  });
  server.removeAllListeners('request');
  server.on('request', provider.callback());
  process.send?.({ url });
});
process.on('disconnect', () => process.exit());
process.send?.({ isReady: true });
