import { expect, test } from 'vitest';
import { PAGES } from '../../src/surfaces/dashboard/shared/routes.ts';
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
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
  }
});

test('[DASH-3] no page keeps anybody out: no serious violation, at both widths and in both themes', async () => {
  for (const [size, theme] of [
    [undefined, 'dark'],
    [NARROW, 'light'],
  ] as const) {
    const page = await dashboard.open('/', { theme, ...(size && { size }) });
    for (const { title, path } of PAGES) {
      await page.goto(`${dashboard.url}${path}`);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await page.getByText('Live').waitFor({ state: 'attached' });
      expect(await axe(page), `${path} ${theme}`).toEqual([]);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, `${path} is wider than the screen`).toBeLessThanOrEqual(0);
    }
  }
});
