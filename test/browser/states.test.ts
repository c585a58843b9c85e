import { expect, test } from 'vitest';
import { axe, useDashboard } from '../support/browser.ts';

const dashboard = useDashboard({
  servers: () => ({ broken: { command: process.execPath, args: ['-e', 'process.exit(3)'] } }),
});
/** What a browser says of an answer that is an error. */
const FAILED = /status of 500/;

test('[DASH-14] a placeholder is shown while data loads; a failure says so and can be retried', async () => {
  const page = await dashboard.open('/', { expected: FAILED });
  let isBroken = true;
  await page.route('**/api/servers', async (route) => {
    if (!isBroken) return await route.continue();
    const error = { code: 'internal', message: 'The store is upside down', hint: 'Turn it round.' };
    return await route.fulfill({ status: 500, json: { error } });
  });
  await page.reload();
  const panel = page.getByRole('region', { name: 'Servers' });
  await panel.getByText('The store is upside down').waitFor();
  await panel.getByText('Turn it round.').waitFor();
  expect(await axe(page)).toEqual([]);
  isBroken = false;
  await panel.getByRole('button', { name: 'Try again' }).click();
  await panel.getByText('broken', { exact: true }).waitFor();

  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/traces?limit=*', async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  const runs = page.getByRole('region', { name: 'Latest runs' });
  await runs.getByLabel('Loading').waitFor();
  expect(await axe(page)).toEqual([]);
  answer();
  await runs.getByText('No runs yet').waitFor();
});

test('[DASH-14] a server that does not start says why, on Home', async () => {
  const page = await dashboard.open('/');
  const row = page.getByRole('row', { name: /broken/ });
  await row
    .getByText(/failed|backoff/)
    .first()
    .waitFor();
  await row.locator('.cell-note').waitFor();
});

test('[DASH-14] an unknown address says so', async () => {
  const page = await dashboard.open('/no/such/page');
  await page.getByText('Page not found').waitFor();
  await page.getByRole('link', { name: 'Back to Home' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
});

const ground = () => getComputedStyle(document.documentElement).backgroundColor;
const LIGHT = 'rgb(250, 247, 242)';
const DARK = 'rgb(19, 17, 16)';

test('[DASH-15] light or dark follows the system until the user chooses, and then keeps the choice', async () => {
  const page = await dashboard.open('/', { theme: 'light' });
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await expect.poll(() => page.evaluate(ground)).toBe(LIGHT);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => page.evaluate(ground)).toBe(DARK);
  await page.getByRole('button', { name: 'Light theme' }).click();
  await page.locator('html[data-theme=light]').waitFor();
  await expect.poll(() => page.evaluate(ground)).toBe(LIGHT);
  await page.reload();
  await page.getByRole('button', { name: 'Dark theme' }).waitFor();
  await expect.poll(() => page.evaluate(ground)).toBe(LIGHT);
});
