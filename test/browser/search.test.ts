import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { ExplainedSearch, Learning } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';

const HOSTILE = fileURLToPath(new URL('../fixtures/servers/hostile-server.ts', import.meta.url));

const dashboard = useDashboard({
  servers: (folder) => ({
    ...referenceServers(folder),
    hostile: { command: process.execPath, args: [HOSTILE] },
  }),
  pml: { permissions: { ask: ['filesystem:write_file'] } },
});

const hits = (page: Page) => page.getByRole('list', { name: 'Tools by rank' }).getByRole('link');

/** Tools whose meaning is not known yet have that of the average. */
beforeAll(async () => {
  for (;;) {
    const { tools } = await dashboard.api<ExplainedSearch>('/search?q=read+a+text+file&limit=100');
    const meanings = new Set(tools.map(({ parts }) => parts.whole));
    if (tools.length > 30 && meanings.size === tools.length) return;
    await new Promise((done) => setTimeout(done, 200));
  }
});

test('[DASH-67] search ranks tools with the parts of every score, which add up to it, and keeps everything in the address', async () => {
  const page = await dashboard.open('/search');
  await page.getByText('What do you want to do?').waitFor();
  await page.keyboard.press('/');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('read a text file');
  // The first letters find tools as well: what is waited for is the answer to all of them.
  await page.waitForURL((url) => url.searchParams.get('q') === 'read a text file');
  const { tools } = await dashboard.api<ExplainedSearch>('/search?q=read+a+text+file&explain=1&limit=20');
  const best = hits(page).first().filter({ hasText: 'filesystem:read_text_file' });
  await best.filter({ hasText: tools[0]!.final_score.toFixed(3) }).waitFor();
  const shown = (await hits(page).first().textContent()) ?? '';
  for (const part of ['meaning', 'clause', 'words']) expect(shown).toContain(part);
  expect(shown).toContain(tools[0]!.final_score.toFixed(3));
  await expect.poll(() => hits(page).count()).toBe(10);
  await page.getByRole('button', { name: 'Show 10 more' }).click();
  await expect.poll(() => hits(page).count()).toBe(tools.length);
  const told = [...shown.matchAll(/(?:meaning|clause|words|name|graph) (−?)([\d.]+)/g)];
  const sum = told.reduce((total, [, sign, figure]) => total + (sign ? -1 : 1) * Number(figure), 0);
  expect(sum).toBeCloseTo(tools[0]!.final_score, 1);
  expect(await axe(page)).toEqual([]);

  await page.getByLabel('Server').selectOption('memory');
  await hits(page).first().getByText('memory:').waitFor();
  for (const hit of await hits(page).allTextContents()) expect(hit).toContain('memory:');
  const again = await dashboard.open(new URL(page.url()).pathname + new URL(page.url()).search);
  await hits(again).first().getByText('memory:').waitFor();
  await again.getByLabel('What do you want to do').fill('');
  await again.getByText('What do you want to do?').waitFor();
});

test('[DASH-68] recently used tools are added to the context and removed from it', async () => {
  await dashboard.api('/execute', {
    code: 'await mcp.memory.read_graph({}); return await mcp.everything.echo({ message: "x" });',
    intent: 'tell what is known, and repeat it',
  });
  const page = await dashboard.open(`${href.search('repeat a message')}&tool=memory:read_graph`);
  await page.getByRole('button', { name: 'Add to the context' }).click();
  await page.getByText('Used just before:').waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get('context')).toBeTruthy();
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: /from the context/ }).click();
  await page.getByText('Used just before:').waitFor({ state: 'detached' });
});

test('[DASH-69] a tool shows its schema and is called from a form, under the same policy as an agent', async () => {
  const page = await dashboard.open(href.search('write a file'));
  await hits(page).filter({ hasText: 'filesystem:write_file' }).click();
  await page.getByRole('tab', { name: 'Schema' }).click();
  await page.getByRole('tabpanel').getByText('content', { exact: true }).waitFor();
  await page.getByText('JSON Schema').click();
  await page.getByLabel('JSON Schema').getByText('"required"').waitFor();
  await page.getByRole('tab', { name: 'Try it' }).click();
  await page.waitForURL(({ searchParams }) => searchParams.get('tab') === 'try');
  const path = join(dashboard.folder, 'made.txt');
  await page.getByRole('textbox', { name: /^path/ }).fill(path);
  await page.getByRole('textbox', { name: /^content/ }).fill('by hand');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Call' }).click();
  const outcome = page.locator('.outcome');
  await page.getByRole('region', { name: 'Waiting for you' }).getByText('permissions.ask').waitFor();
  await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
  await page.getByRole('button', { name: 'Approve filesystem:write_file' }).click();
  await outcome.getByText('success', { exact: true }).waitFor();
  expect(await readFile(path, 'utf8')).toBe('by hand');

  await page.goto(
    `${dashboard.url}${href.search('read a text file')}&tool=filesystem:read_text_file&tab=try`,
  );
  await page.getByRole('textbox', { name: /^path/ }).fill(path);
  await page.getByRole('textbox', { name: /^head/ }).fill('one');
  await page.getByRole('button', { name: 'Call' }).click();
  await page.getByText('This is not a number.').waitFor();
  await page.getByRole('textbox', { name: /^head/ }).fill('1');
  await page.getByRole('button', { name: 'Call' }).click();
  await outcome.getByText('by hand').first().waitFor();
  await outcome.getByRole('link', { name: 'See the run' }).waitFor();
});

test('[DASH-70] where the learned ranker serves, search says what moved a tool and which runs used it', async () => {
  const work = [
    ['memory:read_graph', {}, 'water the roses on the balcony'],
    ['everything:echo', { message: 'x' }, 'tune the old piano'],
    ['filesystem:list_allowed_directories', {}, 'pay the electricity bill'],
  ] as const;
  for (let nth = 0; nth < 45; nth++) {
    const [tool, args, says] = work[nth % 3]!;
    await dashboard.api('/execute', { tool, arguments: args, intent: `${says}, week ${nth}` });
  }
  const page = await dashboard.open(href.search('please water my roses'), { size: NARROW });
  while (!(await dashboard.api<Learning>('/learning')).gate.open)
    await new Promise((done) => setTimeout(done, 200));
  await page.getByText('Ranked by the trained ranker.').waitFor();
  await hits(page).first().getByText('memory:read_graph').waitFor();
  await expect.poll(() => hits(page).first().textContent()).toMatch(/learned [\d.]+\s*text alone/);
  await page.getByRole('table', { name: 'Contributions to the rank of this tool' }).waitFor();
  await page
    .getByText(/“water the roses on the balcony, week \d+”/)
    .first()
    .waitFor();
  expect(await axe(page)).toEqual([]);
});

test('[LEARN-18] search says when a question is ranked by text because nothing learned applies', async () => {
  // It is judged again with each evaluated run.
  await expect.poll(async () => (await dashboard.api<Learning>('/learning')).gate.open).toBe(true);
  const page = await dashboard.open(href.search('add two numbers'));
  await page.getByText('Nothing learned applies here: ranked by text.').waitFor();
  await hits(page).first().getByText('meaning').waitFor();
  expect(await hits(page).first().textContent()).not.toContain('learned');
});

test('[DASH-91] Learning says what the runs of the week taught, and what that changes in a search', async () => {
  const page = await dashboard.open('/learning');
  const week = page.getByRole('region', { name: 'This week' });
  await week.getByText('ranks searches now').waitFor();
  const after = week.getByRole('region', { name: 'With what was learned' });
  const before = week.getByRole('region', { name: 'By text alone' });
  // In one look: a training may still change both.
  const firsts = () => before.or(after).locator('li:first-child').allTextContents();
  const used = /^(?:memory:read_graph|everything:echo|filesystem:list_allowed_directories)$/;
  await expect
    .poll(async () => {
      const [byText, learned] = await firsts();
      return used.test(String(learned)) && byText !== learned;
    })
    .toBe(true);
  expect(await axe(page)).toEqual([]);
  const narrow = await dashboard.open('/learning', { size: NARROW, theme: 'light' });
  await narrow.getByRole('region', { name: 'With what was learned' }).waitFor();
  expect(await axe(narrow)).toEqual([]);
  const [, first] = await firsts();
  await week.getByRole('link', { name: /^“/ }).press('Enter');
  await hits(page).first().getByText(first!).waitFor();
});

test('[DASH-71] names, descriptions and schemas of tools are shown as text', async () => {
  const page = await dashboard.open(`${href.search('say a million letters')}&server=hostile&tab=schema`);
  await hits(page).filter({ hasText: 'hostile:speak' }).click();
  await page.getByRole('tabpanel').getByText('<script>alert("description")</script>').first().waitFor();
  await page.getByRole('tab', { name: 'Try it' }).click();
  await page.getByRole('textbox', { name: /^<img src=x onerror=alert\("name"\)>/ }).fill('x');
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.locator('main').textContent()).not.toContain('\u202E');
  expect(await axe(page)).toEqual([]);
});
