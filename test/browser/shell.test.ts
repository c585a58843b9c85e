import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Capabilities, Execution } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href, PAGES } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { runPml } from '../support/run-pml.ts';

const dashboard = useDashboard();

test('[DASH-1] the login link opens the dashboard, and a stranger is told how to get one', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const stranger = await dashboard.open('/runs/some?x=1', { signedIn: false, expected: /401/ });
  await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await stranger.getByText('pml login').count()).toBe(1);
  expect(await axe(stranger)).toEqual([]);
});

test('[DASH-1] a page on another port of this machine gets nothing, with this browser or without', async () => {
  const cookies: unknown[] = [];
  const elsewhere = createServer((request, reply) => {
    cookies.push(request.headers.cookie);
    reply.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void elsewhere.close());
  await once(elsewhere, 'listening');
  const page = await dashboard.open('/', { expected: /./ });
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  const reached = await page.evaluate(async (url) => {
    const tries = (['cors', 'no-cors'] as const).flatMap((mode) =>
      ['/api/me', '/api/audit', '/api/events', '/bridge', '/mcp'].map(async (path) => {
        const reply = await fetch(`${url}${path}`, { mode, credentials: 'include' });
        return `${path} ${reply.type} ${await reply.text()}`;
      }),
    );
    const answers = await Promise.allSettled(tries);
    return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused'));
  }, dashboard.url);
  // An opaque answer has neither status nor body.
  for (const answer of reached) expect(answer).toMatch(/^refused$|^\S+ opaque $/);
  expect(await page.evaluate(() => [document.cookie, localStorage.length])).toEqual(['', 0]);
  expect(cookies.every((cookie) => cookie === undefined)).toBe(true);
});

test('[DASH-1] whoever was given a key signs in with it, and stays where they wanted to go', async () => {
  const page = await dashboard.open('/learning', { signedIn: false, expected: /40[13]/ });
  await page.getByLabel('Or sign in with a key').fill('pml_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This key is not good').waitFor();
  const made = await runPml([
    'keys',
    'create',
    'ada',
    '--role',
    'viewer',
    '--json',
    '--data',
    dashboard.data,
  ]);
  const { key } = JSON.parse(made.stdout) as { key: string };
  await page.getByLabel('Or sign in with a key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Learning', level: 1 }).waitFor();
});

test('[DASH-2] every page has an address of its own, in the navigation and on the keyboard', async () => {
  const page = await dashboard.open('/');
  for (const { title, path, key } of PAGES) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: title, exact: true }).getAttribute('aria-current')).toBe(
      'page',
    );
    await page.goto(`${dashboard.url}/nowhere`);
    await page.getByText('There is nothing here').waitFor();
    // In one go: the second key counts for a moment only, and a busy machine is slow to say that the first is done.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press(key)]);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
  }
});

/** Every page with something on it, and one thing of each kind. */
async function addresses(): Promise<string[]> {
  const code = 'const { entities } = await mcp.memory.read_graph({}); return entities.length';
  const runs = [];
  for (let i = 0; i < 2; i++) {
    runs.push(await dashboard.api<Execution>('/execute', { code, intent: 'count what is remembered' }));
  }
  await dashboard.api('/execute', { code: 'throw new Error("no")', intent: 'fail' });
  const { capabilities } = await dashboard.api<Capabilities>('/capabilities');
  const trace = runs.at(-1)?.trace_id ?? '';
  return [
    ...PAGES.map(({ path }) => path),
    href.run(trace),
    href.graph({ run: trace }),
    href.graph({ node: 'memory:read_graph' }),
    href.search('read a file'),
    ...capabilities.slice(0, 1).map(({ slug }) => href.capability(slug)),
  ];
}

test('[DASH-3] no page keeps anybody out: no serious violation, at both widths and in both themes', async () => {
  const all = await addresses();
  for (const { size, theme } of [{ theme: 'dark' }, { theme: 'light', size: NARROW }] as const) {
    const page = await dashboard.open('/', { theme, ...(size && { size }) });
    for (const address of all) {
      await page.goto(`${dashboard.url}${address}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
      await page.getByLabel('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      expect(await axe(page), `${address} ${theme}`).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, `${address} is wider than the screen`).toBeLessThanOrEqual(0);
    }
  }
}, 300_000);
