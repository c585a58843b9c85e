import { expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { hostedClient, oauthGateway } from '../support/oauth-gateway.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testAuthorizationServer } from './suite.ts';

test('[OAUTH-20] the built-in authorization server passes the official suite for such servers', async () => {
  const gateway = await oauthGateway();
  const port = await freePort();
  const redirect_uris = [`http://127.0.0.1:${port}/callback`];
  const { body } = await hostedClient(gateway.url).register({ redirect_uris });
  const browser = await gateway.browser();
  const server = { url: gateway.url, clientId: body.client_id, resource: `${gateway.url}/mcp` };
  const outcomes = await testAuthorizationServer(server, port, await temporaryDir(), async (page) => {
    const consent = String((await browser.get(page)).headers.get('location'));
    const decided = await browser.decide(consent, { allow: true });
    const resumed = await browser.get(decided.body.location);
    // The suite announces the page before it listens for the callback.
    const callback = String(resumed.headers.get('location'));
    await vi.waitFor(() => fetch(callback), { timeout: 60_000 });
  });
  const pass = { verdict: 'pass', complaints: [] };
  expect(Object.fromEntries(outcomes)).toEqual({
    'authorization-code-grant': pass,
    'authorization-server-metadata-endpoint': pass,
  });
});
