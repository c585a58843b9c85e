import { expect, onTestFinished, test, vi } from 'vitest';
import type { Capabilities, Execution, Traces } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href, PAGES } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { launchBrowser, NARROW, newContext } from '../support/launch-browser.ts';
import { runPml } from '../support/run-pml.ts';
import { attackFrom, attackThroughWindow, startHostileNeighbour } from './hostile-neighbour.ts';

const dashboard = useDashboard();

test('[DASH-1] the login link opens the dashboard; another browser gets nothing from the address alone', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const other = await launchBrowser();
  onTestFinished(() => other.close());
  const stranger = await (await newContext(other)).newPage();
  const answers = new Set<number>();
  stranger.on('response', (reply) => {
    if (new URL(reply.url()).pathname.startsWith('/api')) answers.add(reply.status());
  });
  await stranger.goto(`${dashboard.url}/runs/some?x=1`);
  await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await stranger.getByText('pml login').count()).toBe(1);
  await expect.poll(() => [...answers]).toEqual([401]);
  expect(await stranger.evaluate(() => localStorage.getItem('pml-session'))).toBeNull();
  expect(await axe(stranger)).toEqual([]);
});

test('[DASH-83] [HTTP-2] a page on another port gets nothing of the dashboard, though this browser is logged in to it', async () => {
  const neighbour = await startHostileNeighbour();
  const page = await dashboard.open('/', { expected: /./ });
  await page.getByText('Live', { exact: true }).waitFor();
  const runs = async () => (await dashboard.api<Traces>('/traces')).traces.length;
  const before = await runs();
  const attacker = await page.context().newPage();
  const nothing = (got: object) => Object.fromEntries(Object.keys(got).map((way) => [way, 'nothing']));
  for (const host of ['localhost', '127.0.0.1']) {
    await attacker.goto(`http://${host}:${neighbour.port}/`);
    const { got, answers } = await attackFrom(attacker, dashboard.url);
    expect(got, host).toEqual(nothing(got));
    // Told of after the page itself knows.
    await expect.poll(() => answers).toEqual(expect.arrayContaining(['GET / 403', 'POST /api/execute 403']));
    expect(answers.filter((answer) => !answer.endsWith(' 403'))).toEqual([]);
  }
  const seen = await attackThroughWindow(attacker, dashboard.url);
  expect(seen).toEqual(nothing(seen));
  expect(await runs()).toBe(before);
  expect(await page.context().cookies()).toEqual([]);
  expect(neighbour.cookies).toEqual([]);
});

test('[DASH-84] a person signs in with a key, and lands on the page they wanted', async () => {
  const page = await dashboard.open('/learning', { signedIn: false, expected: /40[13]/ });
  await page.getByLabel('Or sign in with a key').fill('pml_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This key is invalid or revoked').waitFor();
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

test('[DASH-2] every page has its own address, in the navigation and by keyboard', async () => {
  const page = await dashboard.open('/');
  for (const { title, path, key } of PAGES) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: title, exact: true }).getAttribute('aria-current')).toBe(
      'page',
    );
    await page.goto(`${dashboard.url}/nowhere`);
    await page.getByText('Page not found').waitFor();
    // In one go: the second key counts for a moment only, and a busy machine is slow to say that the first is done.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press(key)]);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
  }
});

/** Every page with something on it, and one thing of each kind. */
async function addresses(): Promise<string[]> {
  const code =
    'const { entities } = await mcp.memory.read_graph({}); return entities.map(({ name }) => name).length';
  const runs = [];
  for (let i = 0; i < 2; i++) {
    runs.push(await dashboard.api<Execution>('/execute', { code, intent: 'count what is remembered' }));
  }
  await dashboard.api('/execute', { code: 'throw new Error("no")', intent: 'fail' });
  // It is learned after the answer.
  const slug = await vi.waitFor(
    async () => {
      const { capabilities } = await dashboard.api<Capabilities>('/capabilities');
      return capabilities.find(({ state }) => state === 'active')!.slug;
    },
    { timeout: 60_000, interval: 100 },
  );
  const trace = runs.at(-1)?.trace_id ?? '';
  return [
    ...PAGES.map(({ path }) => path),
    href.run(trace),
    href.graph({ run: trace }),
    href.graph({ node: 'memory:read_graph' }),
    href.search('read a file'),
    href.capability(slug),
  ];
}

test('[DASH-3] no page has a serious accessibility violation, at both widths and in both themes', async () => {
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

test('[DOCS-4] the documentation can be read and searched by keyboard, wide and narrow, in both themes', async () => {
  for (const options of [{ size: NARROW, theme: 'light' }, { theme: 'dark' }] as const) {
    const page = await dashboard.open('/docs/start', { ...options, signedIn: false });
    await page.getByRole('heading', { name: 'Start in two minutes', level: 1 }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('approve calls');
    await page.getByRole('link', { name: /^Work with servers: Deciding what may run/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('a:focus').press('Enter');
    await page.waitForURL(({ pathname }) => pathname !== '/docs/start');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await axe(page)).toEqual([]);
  }
});
