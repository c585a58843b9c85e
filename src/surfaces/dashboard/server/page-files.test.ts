import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { createTar } from 'nanotar';
import { expect, onTestFinished, test } from 'vitest';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import { isPagePath } from '../shared/routes.ts';
import { pageFiles } from './page-files.ts';

/** A gateway that serves a page made of these files. */
async function serve(files: Readonly<Record<string, string>>, docs?: Readonly<Record<string, string>>) {
  const folder = join(await temporaryDir(), 'page');
  await mkdir(join(folder, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
    await writeFile(join(folder, `${name}.gz`), gzipSync(text));
  }
  const archive = join(folder, 'docs.tar.gz');
  const entries = Object.entries(docs ?? {}).map(([name, data]) => ({ name, data }));
  if (docs) await writeFile(archive, gzipSync(createTar(entries)));
  const api = new Hono().get('/ping', (context) => context.json({}));
  const running = await startHttp({
    api,
    page: { isPage: isPagePath, ...pageFiles(folder, archive) },
  });
  onTestFinished(running.listener.close);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${running.listener.url}${path}`, { headers, redirect: 'manual' });
  return { ...running, get, folder };
}

const PAGE = { 'index.html': '<p>page</p>', 'assets/x-1234.js': 'let x = 1;', 'theme.js': 'let t;' };

test('[DASH-9] the page is public at every address except those of the API and MCP, which need the token', async () => {
  const { get } = await serve(PAGE);
  for (const path of ['/', '/runs/abc', '/capabilities/a.b?x=1', '/no/such/page']) {
    const reply = await get(path);
    expect([reply.status, await reply.text()], path).toEqual([200, '<p>page</p>']);
  }
  for (const path of ['/api/ping', '/api', '/mcp', '/mcp/servers/x', '/metrics', '/bridge']) {
    expect((await get(path)).status, path).toBe(401);
  }
});

test('[DASH-81] no inline script and no foreign resource may run', async () => {
  const { get } = await serve(PAGE);
  const policy = (await get('/')).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
});

test('[DASH-9] files with a hash in their name are cached forever, all others are revalidated; all are compressed', async () => {
  const { get, listener } = await serve(PAGE);
  const hashed = await get('/assets/x-1234.js');
  expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(hashed.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect((await get('/')).headers.get('cache-control')).toBe('no-cache');
  const zipped = await rawBody(listener.url, 'gzip', '/assets/x-1234.js');
  expect(gunzipSync(zipped).toString()).toBe('let x = 1;');
  expect((await rawBody(listener.url, 'identity', '/assets/x-1234.js')).toString()).toBe('let x = 1;');
});

test('[DASH-9] no path leads outside the folder of the page', async () => {
  const { listener, folder } = await serve(PAGE);
  await writeFile(join(folder, '..', 'secret.js'), 'secret');
  for (const path of [
    '/../secret.js',
    '/assets/../../secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/%2e%2e/secret.js',
  ]) {
    expect((await rawBody(listener.url, 'identity', path)).toString(), path).not.toBe('secret');
  }
});

test('[DASH-82] if the page was not built, its address says how to build it, and everything else works', async () => {
  const { get, token } = await serve({});
  const reply = await get('/runs');
  expect(reply.status).toBe(503);
  expect(await reply.text()).toContain('npm run build:dashboard');
  expect((await get('/api/ping', { authorization: `Bearer ${token}` })).status).toBe(200);
});

test('[DASH-1] the login page works in every browser, and viewing a link does not use it up', async () => {
  const { get, access, listener } = await serve(PAGE);
  const code = access.createLoginCode();
  const reply = await get(`/login?code=${code}`, { accept: 'text/html' });
  expect([reply.status, await reply.text()]).toEqual([200, '<p>page</p>']);
  const body = new URLSearchParams({ code });
  expect((await fetch(`${listener.url}/login`, { method: 'POST', body })).status).toBe(200);
});

const DOCS = {
  'index.html': '<p>docs</p>',
  'code.html': '<p>code</p>',
  'code.md': '# Code',
  'llms.txt': '# PML',
  'guide/index.html': '<p>guide</p>',
};

test('[DOCS-3] the documentation is public at /docs, each page also as Markdown, under the policy of the dashboard', async () => {
  const { get } = await serve(PAGE, DOCS);
  const policy = (await get('/')).headers.get('content-security-policy');
  for (const [path, type, text] of [
    ['/docs/', 'text/html', '<p>docs</p>'],
    ['/docs/code', 'text/html', '<p>code</p>'],
    ['/docs/code.md', 'text/markdown', '# Code'],
    ['/docs/llms.txt', 'text/plain', '# PML'],
    ['/docs/guide/', 'text/html', '<p>guide</p>'],
  ] as const) {
    const reply = await get(path);
    expect([reply.status, reply.headers.get('content-type')], path).toEqual([200, `${type}; charset=utf-8`]);
    expect(await reply.text(), path).toBe(text);
    expect(reply.headers.get('content-security-policy')).toBe(policy);
  }
  for (const [path, to] of [
    ['/docs', '/docs/'],
    ['/docs/guide', '/docs/guide/'],
    ['/llms.txt', '/docs/llms.txt'],
  ] as const) {
    const reply = await get(path);
    expect([reply.status, reply.headers.get('location')], path).toEqual([302, to]);
  }
});

test('[DOCS-3] an unknown page of the documentation does not exist, and no path leads outside its folder', async () => {
  const { get, listener, folder } = await serve(PAGE, DOCS);
  await writeFile(join(folder, 'secret.md'), 'secret');
  expect((await get('/docs/no-such-page')).status).toBe(404);
  for (const path of [
    '/docs/../secret.md',
    '/docs/..%2fsecret.md',
    '/docs/guide/../../secret.md',
    '/docs/%2e%2e/secret.md',
  ])
    expect((await rawBody(listener.url, 'identity', path)).toString(), path).not.toBe('secret');
});

test('[DOCS-3] documentation that was not built says how to build it', async () => {
  const { get } = await serve(PAGE);
  const reply = await get('/docs/');
  expect([reply.status, (await reply.text()).includes('npm run docs')]).toEqual([503, true]);
});

/** Path and body as they go over the wire: `fetch` mends the one and unpacks the other. */
async function rawBody(url: string, encoding: string, path: string): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const outgoing = request(url, { path, headers: { 'accept-encoding': encoding } }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve(Buffer.concat(chunks)));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
