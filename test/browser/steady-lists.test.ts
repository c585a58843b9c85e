import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Capabilities, Execution } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { useDashboard } from '../support/browser.ts';

const dashboard = useDashboard({ pml: { permissions: { ask: ['filesystem:write_file'] } } });

const run = (intent: string, code = 'return 1') => dashboard.api<Execution>('/execute', { code, intent });

/** Where it is, as the element that it was: one that was made again is another. */
async function placeOf(locator: Locator): Promise<{ top: number; isSame: () => Promise<boolean> }> {
  const element = (await locator.elementHandle())!;
  const top = await element.evaluate((node) => node.getBoundingClientRect().top);
  return { top, isSame: () => element.evaluate((node) => node.isConnected) };
}

/** Everything that the page loads at first has its place. */
async function untilStill(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByLabel('Loading', { exact: true }).first().waitFor({ state: 'detached' });
  // A figure that comes later may take two lines.
  await page.locator('.figure-wait').first().waitFor({ state: 'detached' });
}

async function point(page: Page, target: Locator): Promise<void> {
  await untilStill(page);
  const box = (await target.boundingBox())!;
  await page.mouse.move(box.x + 4, box.y + box.height / 2);
}

test.for([
  ['/', 'Latest runs'],
  ['/runs', 'Runs'],
] as const)(
  '[DASH-80] at %s a run that ends between press and release does not take the click',
  async ([path, name]) => {
    await run('an earlier one');
    await run('the one that is meant');
    /** Gets the same events and is not touched: what it shows, the other page has received. */
    const witness = await dashboard.open(path);
    const page = await dashboard.open(path);
    const table = page.getByRole('table', { name, exact: true });
    const link = table.getByRole('link', { name: 'the one that is meant' }).first();
    await link.waitFor();
    // The focus is elsewhere in the list, and leaves it for what is pressed.
    await table.getByRole('link', { name: 'an earlier one' }).first().focus();
    await point(page, link);
    const before = await placeOf(link);
    const href = await link.getAttribute('href');
    await run('while one points');
    await page.getByRole('button', { name: /^Show 1 new/ }).waitFor();
    expect((await placeOf(link)).top).toBe(before.top);

    await page.mouse.down();
    await run('while one presses');
    await witness.getByRole('link', { name: 'while one presses' }).first().waitFor();
    expect((await placeOf(link)).top).toBe(before.top);
    expect(await before.isSame()).toBe(true);
    await page.mouse.up();
    await page.waitForURL((url) => url.pathname === href);
  },
);

test('[DASH-80] new rows above a list wait while the user presses in it', async () => {
  await run('pressed on Home');
  const witness = await dashboard.open('/');
  const page = await dashboard.open('/');
  const link = page
    .getByRole('table', { name: 'Latest runs' })
    .getByRole('link', { name: 'pressed on Home' });
  await link.waitFor();
  await point(page, link);
  const { top } = await placeOf(link);
  await page.mouse.down();
  // Asked of a person, it has a panel of its own at the top of the page.
  const waiting = dashboard.api('/execute', {
    tool: 'filesystem:write_file',
    arguments: { path: `${dashboard.folder}/x`, content: 'x' },
  });
  await witness.getByRole('heading', { name: /^Waiting for you/ }).waitFor();
  expect((await placeOf(link)).top).toBe(top);
  await page.mouse.up();
  await page.getByRole('heading', { name: 'pressed on Home' }).waitFor();
  await witness.getByRole('button', { name: 'Reject filesystem:write_file' }).click();
  await waiting;
});

test('[DASH-80] a capability learned above the one under the pointer waits, and appears when the pointer leaves', async () => {
  const learn = async (name: string, code: (nth: number) => string) => {
    for (const nth of [1, 2]) await run(name, code(nth));
  };
  const sum = (nth: number) => `await mcp.everything['get-sum']({ a: ${nth}, b: 1 })`;
  const echo = (nth: number) => `await mcp.everything.echo({ message: 'a' + ${nth} })`;
  await learn('weigh zebras', (nth) => `return [${echo(nth)}, ${sum(nth)}];`);
  // It is learned after the answer, and must not come in between.
  await expect
    .poll(async () => {
      const { capabilities } = await dashboard.api<Capabilities>('/capabilities');
      return capabilities.map(({ state }) => state);
    })
    .toEqual(['active']);
  const page = await dashboard.open('/capabilities');
  const rows = page.getByRole('table', { name: 'Capabilities' }).getByRole('row');
  const first = rows.nth(1);
  await first.waitFor();
  await point(page, first.getByRole('link'));
  const before = await placeOf(first);
  const names = await rows.allTextContents();
  await learn('add aardvarks', (nth) => `return [${sum(nth)}, ${echo(nth)}];`);
  await page.getByRole('button', { name: /^Show \d new/ }).waitFor();
  expect(await rows.count()).toBe(names.length);
  expect((await placeOf(first)).top).toBe(before.top);
  expect(await before.isSame()).toBe(true);
  await page.getByRole('button', { name: /^Show \d new/ }).click();
  await expect.poll(() => rows.count()).toBeGreaterThan(names.length);
});
