import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  auth,
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { axe, useDashboard } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { runPml } from '../support/run-pml.ts';

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const dashboard = useDashboard({
  port,
  servers: (folder) => ({ memory: referenceServers(folder).memory! }),
  pml: { http: { oauth: { url } } },
});

/** Where the hosted client gets its codes. */
async function startCallback() {
  const { promise: answered, resolve } = Promise.withResolvers<URLSearchParams>();
  const page = { url: '' };
  const server = createServer((request, response) => {
    if (request.url === '/start') {
      response.writeHead(302, { location: page.url }).end();
      return;
    }
    if (!request.url?.startsWith('/callback')) {
      response.writeHead(404).end();
      return;
    }
    resolve(new URL(String(request.url), 'http://127.0.0.1').searchParams);
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><link rel="icon" href="data:,"><title>Connected</title>Connected');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/callback`,
    answered,
    /** A page of another site that sends the browser on. */
    startAt: (next: URL | undefined) => {
      page.url = String(next);
      return `http://localhost:${own}/start`;
    },
  };
}

/** What a hosted client remembers, as the SDK wants it. */
function createMemory(redirectUrl: string) {
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; page?: URL } =
    {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Hosted <b>client</b>',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (page) => {
      kept.page = page;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => String(kept.verifier),
  };
  return { kept, provider };
}

test('[OAUTH-4] [OAUTH-5] a hosted client connects in a browser, refreshes after a restart, and is revoked', async () => {
  const callback = await startCallback();
  const { kept, provider } = createMemory(callback.url);
  const address = new URL(`${url}/mcp`);
  const connect = async () => {
    const client = new Client({ name: 'hosted', version: '1' });
    const transport = new StreamableHTTPClientTransport(address, { authProvider: provider });
    await client.connect(transport);
    return client;
  };
  // Discovery and registration, up to the page that the person has to open.
  await expect(connect()).rejects.toThrow(UnauthorizedError);
  expect(kept.page?.origin).toBe(url);

  const page = await dashboard.open();
  await page.goto(callback.startAt(kept.page));
  await page.getByRole('heading', { name: 'Hosted <b>client</b> wants to connect' }).waitFor();
  const shown = await page.getByRole('main').textContent();
  expect(shown).toContain(new URL(callback.url).host);
  expect(shown).toContain('your own computer');
  expect(shown).toContain('all servers (/mcp)');
  expect(shown).toContain('pml:run');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(({ pathname: at }) => at === '/callback');
  const answer = await callback.answered;
  expect(answer.get('iss')).toBe(url);

  const transport = new StreamableHTTPClientTransport(address, { authProvider: provider });
  await transport.finishAuth(answer);
  const first = kept.tokens!;
  expect(first.scope).toBe('pml:run');
  let client = await connect();
  const call = { tool: 'memory:read_graph', arguments: {}, intent: 'see what is remembered' };
  const { content } = await client.callTool({ name: 'pml_execute', arguments: call });
  expect(JSON.stringify(content)).toContain('entities');
  await client.close();

  await dashboard.stop();
  await dashboard.start();
  expect(await auth(provider, { serverUrl: address })).toBe('AUTHORIZED');
  expect(kept.tokens?.refresh_token).not.toBe(first.refresh_token);
  client = await connect();
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();

  const { stdout } = await runPml(['call', 'list_connections', '--data', dashboard.data]);
  const { connections } = JSON.parse(stdout);
  expect(connections).toMatchObject([{ client_name: 'Hosted <b>client</b>', resource: `${url}/mcp` }]);
  const revoked = await fetch(`${url}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: String(kept.client?.client_id),
      token: String(kept.tokens?.refresh_token),
    }),
  });
  expect(revoked.status).toBe(200);
  const ask = () =>
    fetch(address, { headers: { authorization: `Bearer ${kept.tokens?.access_token}` } }).then(
      ({ status }) => status,
    );
  await expect.poll(ask).toBe(401);
  await expect(connect()).rejects.toThrow('grant request is invalid');
});

test('[OAUTH-5] a browser without a login must log in first, and a refusal reaches the client', async () => {
  const callback = await startCallback();
  const { kept, provider } = createMemory(callback.url);
  expect(await auth(provider, { serverUrl: `${url}/mcp/servers/memory` })).toBe('REDIRECT');
  const { pathname, search } = kept.page!;
  const stranger = await dashboard.open(pathname + search, { signedIn: false, expected: /401/ });
  await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await stranger.getByRole('button', { name: 'Allow' }).count()).toBe(0);

  const page = await dashboard.open(pathname + search);
  await page.getByText('only the server memory').waitFor();
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.waitForURL(({ pathname: at }) => at === '/callback');
  const answer = await callback.answered;
  expect([answer.get('error'), answer.get('iss')]).toEqual(['access_denied', url]);
});
