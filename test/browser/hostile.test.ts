import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Execution, Graph } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href, PAGES } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';

const SERVER = fileURLToPath(new URL('../fixtures/servers/hostile-server.ts', import.meta.url));
const PICTURE = '<img src=x onerror=alert("name")>';
const INTENT = `${PICTURE}\u202edaer`;

const dashboard = useDashboard({
  servers: () => ({ hostile: { command: process.execPath, args: [SERVER] } }),
});

/** What would be there if any of it were more than text. */
const intruders = (page: Page) => page.locator('img[src="x"], body script, [onerror]').count();

const textOf = async (page: Page, place: string) => (await page.locator(place).textContent()) ?? '';

test('[DASH-12] texts of servers, tools and agents are shown as text: nothing runs, hides or is reversed', async () => {
  const speak = await dashboard.api<Execution>('/execute', {
    tool: 'hostile:speak',
    arguments: {},
    intent: INTENT,
  });
  const failed = await dashboard.api<Execution>('/execute', { tool: `hostile:${PICTURE}`, arguments: {} });
  expect([speak.status, failed.status]).toEqual(['success', 'error']);
  const { nodes } = await dashboard.api<Graph>('/graph');
  expect(nodes.map(({ id }) => id)).toContain(`hostile:${PICTURE}`);

  const page = await dashboard.open('/');
  await page.getByRole('link', { name: `${PICTURE}\\u202edaer` }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox').fill('hostile');
  await page.getByRole('option', { name: `hostile:${PICTURE} Tool` }).waitFor();
  await page.keyboard.press('Escape');

  const addresses = [
    ...PAGES.map(({ path }) => path),
    href.search('letters'),
    href.graph({ node: `hostile:${PICTURE}` }),
    href.graph({ run: speak.trace_id! }),
    href.run(speak.trace_id!),
    href.run(failed.trace_id!),
  ];
  for (const address of addresses) {
    await page.goto(`${dashboard.url}${address}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle', { timeout: 500 }).catch(() => {});
    expect(await intruders(page), address).toBe(0);
    const shown = await textOf(page, 'main');
    for (const mark of ['\u0007', '\u001b', '\u202e']) expect(shown, address).not.toContain(mark);
    expect(shown.length, address).toBeLessThan(100_000);
  }
});

test('[DASH-12] a million characters are shown in parts', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('tab', { name: 'Run code' }).click();
  await page.getByLabel('A program that calls tools').fill('return await mcp.hostile.speak({})');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('\\u0007\\u001b[31m\\u202egnp.exe').waitFor();
  expect((await textOf(page, '.outcome')).length).toBeLessThan(3_000);
  await page.getByRole('button', { name: /Show more/ }).click();
  await expect.poll(async () => (await textOf(page, '.outcome')).length).toBeGreaterThan(15_000);
  expect(await intruders(page)).toBe(0);
});
