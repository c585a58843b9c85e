import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Execution, Traces } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { useDashboard } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { withinOneDay } from '../support/within-one-day.ts';

// It is started again there: a port that the system gave might be somebody else's by then.
const dashboard = useDashboard({ port: await freePort() });
/** What a browser says of a gateway that is away, or about to go. */
const AWAY =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of 503/;

const run = (intent: string, code = 'return 1') => dashboard.api<Execution>('/execute', { code, intent });
const latestRuns = (page: Page) => page.getByRole('table', { name: 'Latest runs' });

test('[DASH-4] changes appear without a reload, and nothing jumps', async () => {
  await withinOneDay();
  await run('the first of all');
  const page = await dashboard.open('/', { size: { width: 1280, height: 500 } });
  const row = latestRuns(page).getByRole('link', { name: 'the first of all' });
  await row.waitFor();
  await row.focus();
  const runs = [1, 2, 3].map((i) => run(`live run ${i}`));
  await Promise.all(runs);
  for (const i of [1, 2, 3]) await latestRuns(page).getByText(`live run ${i}`).waitFor();
  expect(await row.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  await page.locator('.figure', { hasText: 'Runs today' }).getByText('4', { exact: true }).waitFor();
});

test('[DASH-4] two pages that show the same object are both kept up to date', async () => {
  const page = await dashboard.open('/runs');
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  // The filters of this page know the tools of the graph, too, and do not mind how old they are.
  await page.getByRole('link', { name: 'Graph', exact: true }).click();
  const size = page.locator('.page-head').getByText(/\d+ edges/);
  const before = await size.textContent();
  await run(
    'one after the other',
    'await mcp.memory.read_graph({}); await mcp.everything.echo({message: "x"})',
  );
  await page.waitForFunction(
    (old) => document.querySelector('.page-head .lead')?.textContent !== old,
    before,
  );
});

test('[DASH-5] after the gateway was away the page continues by itself, with everything that happened meanwhile', async () => {
  const page = await dashboard.open('/', { expected: AWAY });
  await page.getByText('Live', { exact: true }).waitFor();
  await dashboard.stop();
  await page.getByText('Disconnected.').waitFor();
  await dashboard.start();
  await run('while nobody watched');
  await latestRuns(page).getByText('while nobody watched').waitFor();
  await page.getByText('Disconnected.').waitFor({ state: 'detached' });
  await run('after that');
  await latestRuns(page).getByText('after that').waitFor();
  // What PML runs once more by itself may come in between.
  await expect
    .poll(async () => {
      const { traces } = await dashboard.api<Traces>('/traces?limit=6');
      const shown = await latestRuns(page).locator('tbody tr td:first-child').allTextContents();
      return isDeepStrictEqual(
        shown,
        traces.map(({ intent_text }) => intent_text),
      );
    })
    .toBe(true);
});

test('[DASH-6] a burst of events is drawn at most once per frame, and none is lost', async () => {
  const page = await dashboard.open('/');
  await page.getByText('Live', { exact: true }).waitFor();
  // Counts what the page hears and how often it answers with a new drawing.
  await page.evaluate(() => {
    const watched = globalThis as unknown as { changes: number; frames: number };
    watched.changes = 0;
    watched.frames = 0;
    new MutationObserver(() => {
      watched.changes += 1;
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    const tick = () => {
      watched.frames += 1;
      requestAnimationFrame(tick);
    };
    tick();
  });
  const calls =
    'await Promise.all(Array.from({length: 40}, (_, i) => mcp.everything.echo({message: String(i)})))';
  const bursts = Array.from({ length: 8 }, (_, i) => run(`burst ${i}`, calls));
  for (const { status } of await Promise.all(bursts)) expect(status).toBe('success');
  const first = latestRuns(page).locator('tbody tr td').first();
  await expect
    .poll(async () => {
      const { traces } = await dashboard.api<Traces>('/traces?limit=6');
      return (await first.textContent()) === traces[0]?.intent_text;
    })
    .toBe(true);
  const { changes, frames } = await page.evaluate(() => {
    const { changes, frames } = globalThis as unknown as { changes: number; frames: number };
    return { changes, frames };
  });
  expect(changes).toBeLessThanOrEqual(frames);
});

test('[DASH-6] events during the load of a page are not lost', async () => {
  const page = await dashboard.open('/no/such/page');
  await page.getByText('Page not found').waitFor();
  // The answer with the event id to follow from comes last.
  const ended = Promise.withResolvers<void>();
  await page.route('**/api/live', async (route) => {
    await ended.promise;
    await route.continue();
  });
  await page.goto(`${dashboard.url}/`);
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await run('while it begins to load');
  ended.resolve();
  await latestRuns(page).getByText('while it begins to load').waitFor();
});

test('[DASH-88] a page from before an update reloads when one of its files is gone', async () => {
  const page = await dashboard.open('/', { expected: /404/ });
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  let asked = 0;
  await page.route('**/assets/learning-page-*.js', async (route) => {
    asked += 1;
    if (asked > 1) return await route.continue();
    // As the gateway answers for the file of another build.
    return await route.continue({ url: `${dashboard.url}/assets/learning-page-gone.js` });
  });
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Learning', exact: true }).click();
  await page.getByRole('heading', { name: 'Learning', level: 1 }).waitFor();
  expect(asked).toBe(2);
  const gone = await fetch(`${dashboard.url}/assets/learning-page-gone.js`);
  expect(gone.status).toBe(404);
});
