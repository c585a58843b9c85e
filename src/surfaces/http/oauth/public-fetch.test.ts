import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createPublicFetch, isPublicAddress } from './public-fetch.ts';

test('[OAUTH-14] private, local and special addresses are not public', () => {
  const hidden = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
    'localhost',
  ];
  expect(hidden.filter(isPublicAddress)).toEqual([]);
  const open = ['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'];
  expect(open.filter(isPublicAddress)).toEqual(open);
});

const fetchPublic = createPublicFetch();

test('[OAUTH-14] no connection is made to this machine, under any of its names', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0', '[::1]', '[::ffff:127.0.0.1]'])
    await expect(fetchPublic(`https://${host}:${port}/client.json`), host).rejects.toThrow(/public address/);
  await expect(fetchPublic(`http://example.com:${port}/client.json`)).rejects.toThrow(/not https/);
  await expect(fetchPublic('file:///etc/passwd')).rejects.toThrow(/not https/);
  expect(connections).toBe(0);
  server.close();
});

const pem = (name: string) =>
  readFileSync(new URL(`../../../../test/fixtures/tls/${name}.pem`, import.meta.url), 'utf8');

/** A real server with a certificate, which the machine's own addresses may reach here. */
async function serve(answer: (path: string, response: ServerResponse) => void) {
  const server = createTlsServer({ key: pem('key'), cert: pem('cert') }, (request, response) =>
    answer(String(request.url), response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('[OAUTH-14] a document is read over https, and redirects are not followed', async () => {
  const paths: string[] = [];
  const url = await serve((path, response) => {
    paths.push(path);
    if (path === '/moved') response.writeHead(302, { location: '/document' });
    else response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' });
    response.end('{"client_id": "x"}');
  });
  const local = createPublicFetch({ isAllowed: () => true, ca: pem('cert') });
  const document = await local(`${url}/document`);
  expect([document.status, document.headers.get('cache-control')]).toEqual([200, 'max-age=60']);
  expect(await document.json()).toEqual({ client_id: 'x' });
  expect((await local(`${url}/moved`)).status).toBe(302);
  expect(paths).toEqual(['/document', '/moved']);
  // A certificate that nobody vouches for.
  await expect(createPublicFetch({ isAllowed: () => true })(`${url}/document`)).rejects.toThrow();
});

test('[OAUTH-14] an endless document, in size or time, is abandoned', async () => {
  const url = await serve((path, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (path === '/slow') response.write('{');
    const more = () => path === '/long' && !response.destroyed && response.write('x'.repeat(1_000), more);
    more();
  });
  const trusting = { isAllowed: () => true, ca: pem('cert') };
  const patient = createPublicFetch({ ...trusting, timeoutMs: 60_000 });
  await expect(patient(`${url}/long`).then((reply) => reply.text())).rejects.toThrow(/more than 16384 bytes/);
  const local = createPublicFetch({ ...trusting, timeoutMs: 300 });
  await expect(local(`${url}/slow`).then((reply) => reply.text())).rejects.toThrow();
});
