import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type {
  Alerts,
  Execution,
  ExplainedSearch,
  Stats,
} from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { launchBrowser, NARROW, newContext, signIn, WIDE } from '../support/launch-browser.ts';
import { startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const WORKBENCH = fileURLToPath(new URL('../fixtures/servers/stdio-server.ts', import.meta.url));

const dashboard = useDashboard({ pml: { permissions: { ask: ['memory:create_entities'] } } });

test('[DASH-86] [DASH-89] on the first day Home says how to connect a client, and offers to try it right there', async () => {
  const page = await dashboard.open('/');
  await page.getByText('Three steps to your first run, or try it right here.').waitFor();
  await page.getByText('4 servers attached').waitFor();
  const servers = page.getByRole('table', { name: 'Servers' });
  for (const name of ['filesystem', 'memory', 'everything', 'thinking'])
    await servers.getByText(name).waitFor();
  expect(await servers.getByRole('columnheader').allTextContents()).toEqual([
    'Server',
    'State',
    'Tools',
    'Tokens',
  ]);

  for (const [tab, text] of [
    ['Claude Code', 'claude mcp add pml -- pml stdio'],
    ['Cursor', '"mcpServers"'],
    ['VS Code', '"servers"'],
    ['Codex', '[mcp_servers.pml]'],
    ['Gemini CLI', 'pml init --from gemini'],
    ['Any MCP client', `${dashboard.url}/mcp`],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel', { name: tab }).getByText(text).waitFor();
  }

  // Nothing reaches beyond its panel.
  const steps = page.getByRole('region', { name: 'Three steps' });
  const { x, width } = (await steps.boundingBox())!;
  for (const part of await steps.locator('.code, .tab-list, p').all()) {
    const box = (await part.boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(x + width);
  }

  await page.getByRole('tab', { name: 'Run code' }).click();
  await page.getByLabel('A program that calls tools').fill('return 6 * 7');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('42', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'See the run' }).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.getByRole('tab', { name: 'Plan a job' }).click();
  await page.getByLabel('A job, in your own words').fill('read the graph of the memory');
  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await page.getByRole('link', { name: 'See the whole plan' }).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.getByRole('tab', { name: 'Find a tool' }).click();
  await page.getByLabel('Describe what you want to do').fill('read a file');
  await page.getByLabel('Describe what you want to do').press('Enter');
  await page.waitForURL(`${dashboard.url}/search?q=read+a+file`);
});

test('[DASH-86] a program that fails says why', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('tab', { name: 'Run code' }).click();
  await page.getByLabel('A program that calls tools').fill('throw new Error("no such luck")');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.outcome').getByText('no such luck').waitFor();
});

test('[DASH-11] calls that wait for a person are on Home with the exact call, and are decided there', async () => {
  const page = await dashboard.open('/');
  await page.getByText('Live', { exact: true }).waitFor();
  const call = { tool: 'memory:create_entities', arguments: { entities: [] }, timeout_ms: 20_000 };
  // Started by an agent, which may only ask.
  const asked = dashboard.mcp('pml_execute', call) as Promise<Pick<Execution, 'status'>>;
  await page.getByRole('heading', { name: 'Waiting for you (1)' }).waitFor();
  await page.getByRole('link', { name: 'memory:create_entities' }).waitFor();
  await page.getByRole('link', { name: 'Approvals 1 waiting for approval' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Approve memory:create_entities' }).click();
  await page.getByText('Approved').waitFor();
  await page.getByRole('heading', { name: /Waiting for you/ }).waitFor({ state: 'detached' });
  expect(['success', 'approval_required']).toContain((await asked).status);
});

test('[ALERT-4] a tool that starts to fail is on Home, with a link to its failed calls', async () => {
  const page = await dashboard.open('/');
  await page.getByText('Live', { exact: true }).waitFor();
  const code = `for (let i = 0; i < 10; i++) {
    try { await mcp.filesystem.read_text_file({ path: 'gone-' + i }) } catch {}
  }`;
  await dashboard.api('/execute', { code });
  // Whoever asks makes the gateway look.
  await expect.poll(async () => (await dashboard.api<Alerts>('/alerts')).alerts).toHaveLength(1);
  await page.getByRole('link', { name: 'Home 1 alert' }).waitFor();
  // PML may have tried the program once more to see whether it works.
  const words = /filesystem:read_text_file failed in \d+ of \d+ calls in the last 60 minutes\./;
  await page.getByRole('link', { name: words }).focus();
  expect(await axe(page)).toEqual([]);
  const small = await dashboard.open('/', { size: NARROW, theme: 'light' });
  await small.getByText(words).waitFor();
  expect(await axe(small)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Calls' }).getByText('NOT_FOUND').first().waitFor();
});

test('[DASH-17] tools that appear while the page is open are found by meaning as soon as they are embedded; Home and Search say so', async () => {
  const query = 'say the same text once more';
  const [home, found] = [await dashboard.open('/'), await dashboard.open(href.search(query))];
  // Wait for the fields: the notice appears only in what is already shown.
  await home.getByLabel('Describe what you want to do').waitFor();
  await found.getByLabel('What do you want to do').waitFor();
  for (const page of [home, found]) await page.getByText('Live', { exact: true }).waitFor();
  const file = join(dashboard.data, '..', 'pml.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  config.mcpServers.bench = { command: process.execPath, args: [WORKBENCH] };
  await writeFile(file, JSON.stringify(config));
  const bestOfBench = async () => {
    const { tools } = await dashboard.api<ExplainedSearch>(
      `/search?q=${encodeURIComponent(query)}&explain=1&limit=20`,
    );
    return tools.find(({ server_id }) => server_id === 'bench');
  };
  // Before that, only words count.
  await expect.poll(async () => (await bestOfBench())?.shares.semantic ?? 0).toBeGreaterThan(0);
  const { tools: all } = await dashboard.api<Stats>('/stats');
  const news = new RegExp(`^\\d+ tools? more (?:is|are) found by meaning now: ${all} of ${all}\\.$`);
  for (const page of [home, found]) await page.getByText(news).waitFor();
  const best = (await bestOfBench())!;
  const row = found
    .getByRole('list', { name: 'Tools by rank' })
    .getByRole('link')
    .filter({ hasText: best.tool_id });
  await row.getByText(best.final_score.toFixed(3)).waitFor();
});

test('[DASH-86] on the demo, the runs tell a story: the same job in other words, its outcome, and new words', async () => {
  const demo = await startPml(['serve', '--demo', '--port', '0', '--data', await temporaryDir()]);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const storageState = await signIn(browser, String(demo.ready.login_url));
  for (const [colorScheme, viewport] of [
    ['dark', WIDE],
    ['light', NARROW],
  ] as const) {
    const page = await (await newContext(browser, { storageState, viewport, colorScheme })).newPage();
    await page.goto(String(demo.ready.url));
    const story = page.getByRole('region', { name: 'What the demo shows' });
    await story.getByRole('link', { name: 'summarise_notes' }).waitFor();
    await story.getByRole('link', { name: /make one summary/ }).waitFor();
    expect(await axe(page)).toEqual([]);
  }
});
