import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Calls } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';

const dashboard = useDashboard({ pml: { permissions: { ask: ['everything:get-env'] } } });

const toolsOf = (page: Page) => () => page.locator('.calls-tool').allTextContents();

async function fill(intent: string): Promise<void> {
  const code = `await mcp.everything.echo({ message: '=1+1' });
    await mcp.everything['get-sum']({ a: 1, b: 2 });
    return await mcp.filesystem.read_text_file({ path: 'missing.txt' });`;
  await dashboard.api('/execute', { code, intent });
  await expect
    .poll(
      async () =>
        (await dashboard.api<Calls>(`/calls?limit=500`)).calls.filter((call) => call.intent_text === intent)
          .length,
    )
    .toBe(3);
}

test('[CALLS-8] every call is a row; filters, groups and pages are in the address, and a row opens its call', async () => {
  await fill('rows of calls');
  const page = await dashboard.open('/calls');
  await expect
    .poll(toolsOf(page))
    .toEqual(['filesystem:read_text_file', 'everything:get-sum', 'everything:echo']);
  expect(await axe(page)).toEqual([]);
  await page.getByLabel('Outcome').selectOption('error');
  await expect.poll(toolsOf(page)).toEqual(['filesystem:read_text_file']);
  expect(page.url()).toContain('status=error');
  await page.reload();
  await expect.poll(toolsOf(page)).toEqual(['filesystem:read_text_file']);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Server').selectOption('everything');
  await expect.poll(toolsOf(page)).toEqual(['everything:get-sum', 'everything:echo']);

  await page.getByRole('link', { name: 'By error' }).click();
  await expect.poll(toolsOf(page)).toEqual(['No error', expect.stringMatching(/^[A-Z_]+$/)]);
  await page.getByRole('link', { name: 'By tool' }).click();
  await page
    .getByRole('row', { name: /everything:echo/ })
    .getByRole('link')
    .press('Enter');
  await expect.poll(toolsOf(page)).toEqual(['everything:echo']);
  expect(page.url()).toContain('tool=everything%3Aecho');
  await page
    .getByRole('row', { name: /everything:echo/ })
    .getByRole('link')
    .press('Enter');
  await page.locator('.call-details').getByText('=1+1').first().waitFor();
});

test('[CALLS-11] a view is saved by name in this browser, by keyboard, and removed', async () => {
  const page = await dashboard.open('/calls?status=error&min_ms=100');
  await page.getByRole('button', { name: 'Save this view' }).press('Enter');
  const field = page.getByLabel('Name of the view');
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('slow <b>failures');
  await page.keyboard.press('Enter');
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'All', exact: true }).click();
  await page.waitForURL(`${dashboard.url}/calls`);
  await page.reload();
  await views.getByRole('link', { name: 'slow <b>failures' }).press('Enter');
  await page.waitForURL(/status=error&min_ms=100/);
  expect(await axe(page)).toEqual([]);
  await views.getByRole('button', { name: 'Remove the view slow <b>failures' }).press('Enter');
  await views.getByRole('link', { name: 'slow <b>failures' }).waitFor({ state: 'detached' });
});

test('[CALLS-9] a view is saved as CSV, in which no text of a tool is a formula', async () => {
  await fill('=cmd, "quoted"');
  const page = await dashboard.open('/calls?tool=everything%3Aecho');
  await page.locator('.calls-tool').first().waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const [head, newest] = (await readFile(await file.path(), 'utf8')).split('\r\n');
  expect(head).toMatch(/^started_at,tool,success,error_type,error,duration_ms,tokens,/);
  expect(newest).toContain('everything:echo,true,,,');
  expect(newest).toContain(`"'=cmd, ""quoted"""`);
});

test('[CALLS-10] a call that a person approved says so; new calls appear while the page is open, narrow and light', async () => {
  const { run_id } = await dashboard.api<{ run_id: string }>('/execute', {
    tool: 'everything:get-env',
    arguments: {},
    intent: 'asked about',
  });
  const page = await dashboard.open('/calls?asked=true', { size: NARROW, theme: 'light' });
  await page.getByText('No matching calls').waitFor();
  await dashboard.api(`/runs/${run_id}/approve`, {});
  await dashboard.api(`/runs/${run_id}/resume`, {});
  await expect.poll(toolsOf(page)).toEqual(['everything:get-env']);
  expect(await axe(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.getByText('approved').first().waitFor();
});
