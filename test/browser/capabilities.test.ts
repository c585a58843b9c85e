import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseTar } from 'nanotar';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type {
  Capabilities,
  Capability,
  CapabilityRuns,
  Execution,
  SkillFolder,
} from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';

const DESCRIBED = fileURLToPath(new URL('../fixtures/servers/described-server.ts', import.meta.url));

const dashboard = useDashboard({
  servers: (folder) => {
    const [described, answers] = [join(folder, 'described.txt'), join(folder, 'answers.json')];
    writeFileSync(described, 'Greets a person.');
    writeFileSync(answers, '{"temp":20,"sky":"clear"}');
    return {
      ...referenceServers(folder),
      described: { command: process.execPath, args: [DESCRIBED, described, answers] },
    };
  },
});
const HOSTILE = 'echo <img src=x onerror="alert(1)">\u202E back';

/** Runs a program until it is a capability that may be called. */
async function teach(intent: string, programs: readonly string[]): Promise<Capability> {
  const before = new Set(
    (await dashboard.api<Capabilities>('/capabilities')).capabilities.map(({ slug }) => slug),
  );
  for (const code of programs) {
    const made = await dashboard.api<Execution>('/execute', { code, intent });
    expect(made).toMatchObject({ status: 'success' });
  }
  for (;;) {
    const { capabilities } = await dashboard.api<Capabilities>('/capabilities');
    const known = capabilities.find(({ slug, state }) => state === 'active' && !before.has(slug));
    if (known) return await dashboard.api<Capability>(`/capabilities/${known.slug}`);
    await sleep(100);
  }
}

const counting = (
  file: string,
) => `const { content } = await mcp.filesystem.read_text_file({ path: ${JSON.stringify(join(dashboard.folder, file))} });
return content.trim().split('\\n').length;`;

let lines: Capability;

beforeAll(async () => {
  for (const [file, text] of [
    ['monday.md', 'a\nb\n'],
    ['friday.md', 'a\nb\nc\n'],
  ] as const)
    await writeFile(join(dashboard.folder, file), text);
  lines = await teach('count the lines of my notes', ['monday.md', 'friday.md'].map(counting));
});

const open = (slug: string, expected?: RegExp) =>
  dashboard.open(href.capability(slug), expected ? { expected } : {});

test('[DASH-60] [DASH-89] capabilities are listed with state, success and uses, found by name and state, and opened', async () => {
  const page = await dashboard.open('/capabilities');
  const row = page.getByRole('row', { name: lines.slug });
  await row.getByText('active').waitFor();
  await row.getByText('100%').waitFor();
  expect(lines.tools_used).toContain('code:split');
  expect(await row.locator('.mono.cell-note').allTextContents()).toEqual(['filesystem:read_text_file']);
  await page.getByLabel('Search capabilities').fill('nothing like it');
  await page.getByText('No matches').waitFor();
  expect(page.url()).toContain('q=nothing');
  await page.getByLabel('Search capabilities').fill('read_text_file');
  await page.getByLabel('State').selectOption('active');
  await row.waitFor();
  expect(await axe(page)).toEqual([]);
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: lines.slug, level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(href.capability(lines.slug));
});

test('[DASH-61] a capability shows its code, parameters, result, success and source runs', async () => {
  const page = await open(lines.slug);
  const code = page.getByLabel('Source code');
  await code.getByText('const').first().waitFor();
  await expect.poll(() => code.textContent()).toContain('args.path');
  await expect.poll(() => code.locator('.code-keyword').count()).toBeGreaterThan(0);
  await page.getByText('Outline', { exact: true }).click();
  await page.getByRole('list', { name: 'Steps of the program' }).getByText('filesystem:').first().waitFor();
  const parameters = page.getByRole('region', { name: 'Parameters' });
  await parameters.getByText('path', { exact: true }).waitFor();
  await parameters.getByText('required', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Result' }).getByText('integer').first().waitFor();
  await page.getByRole('img', { name: /of the latest \d+ runs succeeded/ }).waitFor();
  await page.getByRole('img', { name: /Success over \d+ runs: now 100%/ }).waitFor();
  const origin = page.getByRole('region', { name: 'Where it comes from' });
  const run = origin.getByRole('link', { name: 'count the lines of my notes' }).first();
  const { learned_from } = await dashboard.api<CapabilityRuns>(`/capabilities/${lines.slug}/runs`);
  expect(learned_from.map(({ id }) => href.run(id))).toContain(await run.getAttribute('href'));
  expect(await axe(page)).toEqual([]);
});

test('[DASH-85] a capability is run with a form made of its schema, which says what is missing', async () => {
  const page = await open(lines.slug);
  const path = page.getByRole('textbox', { name: /^path text required/ });
  await path.fill('');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('This is required.').waitFor();
  expect(await path.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => path.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await axe(page)).toEqual([]);
  await path.fill(join(dashboard.folder, 'friday.md'));
  await path.press('Enter');
  const outcome = page.locator('.outcome');
  await outcome.getByText('success').waitFor();
  await outcome.getByText('3', { exact: true }).waitFor();
  await page.getByText('Called in').waitFor();
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  await page.getByLabel('Arguments as JSON').fill('{"path": 7}');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('alert').getByText('path').waitFor();
  await page.getByLabel('Arguments as JSON').fill('{"path": "/etc/passwd"}');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await outcome.getByText('error', { exact: true }).waitFor();
  await outcome.getByText(/Access denied/).waitFor();
});

test('[DASH-66] a reliable capability is found by what it does, beside the tools', async () => {
  for (const file of ['monday.md', 'friday.md', 'monday.md'])
    await dashboard.api(`/capabilities/${lines.slug}/run`, {
      arguments: { path: join(dashboard.folder, file) },
    });
  const page = await dashboard.open(href.search('how many lines do my notes have'));
  const row = page
    .getByRole('table', { name: 'Capabilities by rank' })
    .getByRole('row', { name: lines.slug });
  await row.waitFor();
  await page.getByLabel('Server').selectOption('memory');
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('Server').selectOption('filesystem');
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: lines.slug, level: 1 }).waitFor();
});

test('[DASH-63] a capability is renamed, quarantined with a reason, released, and forgotten after confirmation', async () => {
  const { slug } = await teach('list what may be read', [
    'return [await mcp.filesystem.list_allowed_directories({})].flat();',
    'return [await mcp.filesystem.list_allowed_directories({})].flat();',
  ]);
  const page = await open(slug, /400 \(Bad Request\)/);
  const choose = async (item: string) => {
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await choose('Rename…');
  const name = page.getByLabel('New name');
  await name.fill('Not A Name');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByText(/is not a valid name for a capability/)
    .waitFor();
  await name.fill('open_folders');
  await name.press('Enter');
  await page.getByRole('heading', { name: 'open_folders', level: 1 }).waitFor();
  await page.getByText(slug, { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Quarantine' }).click();
  await page.getByLabel('Reason').fill('tells too much');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: 'Quarantine' }).click();
  await page.getByText(/tells too much/).waitFor();
  await page.getByText('Release this capability to run it.').waitFor();
  await page.getByRole('button', { name: 'Release' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  expect(await dashboard.api<Capability>('/capabilities/open_folders')).toMatchObject({ state: 'active' });

  await choose('Delete…');
  await page.getByRole('button', { name: 'Keep it' }).click();
  expect(await dashboard.api<Capability>('/capabilities/open_folders')).toMatchObject({ state: 'active' });
  // The event is there long before the response: the page must not ask for what is gone.
  await page.route('**/forget', async (route) => {
    const response = await route.fetch();
    await sleep(1_000);
    await route.fulfill({ response });
  });
  await choose('Delete…');
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByRole('heading', { name: 'Capabilities', level: 1 }).waitFor();
  expect(await dashboard.api('/capabilities/open_folders')).toMatchObject({ error: { code: 'not_found' } });
});

test('[DASH-64] a capability is exported as the folder of an Agent Skill', async () => {
  const page = await open(lines.slug);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const saved = await saving;
  const { folder, files } = await dashboard.api<SkillFolder>(`/capabilities/${lines.slug}/export`);
  expect(saved.suggestedFilename()).toBe(`${folder}.tar`);
  const chunks: Buffer[] = [];
  for await (const chunk of await saved.createReadStream()) chunks.push(chunk as Buffer);
  const found = parseTar(new Uint8Array(Buffer.concat(chunks))).map(({ name, text }) => [name, text]);
  expect(found).toEqual(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
});

test('[DASH-65] the name and purpose of a capability are shown as text, and fit a narrow screen', async () => {
  const code = (message: string) =>
    `return [await mcp.everything.echo({ message: ${JSON.stringify(message)} })].flat();`;
  const { slug } = await teach(HOSTILE, [code('a'), code('b')]);
  for (const path of ['/capabilities', href.capability(slug)]) {
    const page: Page = await dashboard.open(path, { size: NARROW, theme: 'light' });
    await page.getByText(slug).first().waitFor();
    expect(await page.locator('main').textContent()).not.toContain('\u202E');
    // Of an intent only everyday words become a capability's own; its runs show theirs, as text.
    expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toContain('<');
    expect(await page.locator('main img').count()).toBe(0);
    expect(await axe(page), path).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }
});

test('[DASH-92] changes of a server are shown in words with the capabilities that they broke, while they last', async () => {
  const measuring = (place: string) => `const a = await mcp.described.measure({ place: '${place} east' });
const b = await mcp.described.measure({ place: '${place} west' });
return { warmer: a.temp > b.temp };`;
  const warmer = await teach('tell where it is warmer', ['Oslo', 'Rome'].map(measuring));
  const look = (count: number, name: string) =>
    dashboard.api('/execute', {
      code: `for (let i = 0; i < ${count}; i++) await mcp.described.measure({ place: '${name} ' + i });`,
    });
  await look(30, 'before');
  const page = await dashboard.open('/capabilities');
  const row = page.getByRole('row').filter({ has: page.getByText(warmer.slug, { exact: true }) });
  await row.getByText('active').waitFor();
  const changed = page.getByRole('region', { name: 'Changed tools' });
  expect(await changed.count()).toBe(0);
  await writeFile(join(dashboard.folder, 'answers.json'), '{"temperature":20,"sky":"clear"}');
  await look(12, 'after');
  await changed.getByText('described:measure', { exact: true }).waitFor();
  await changed.getByText('"temp" is missing; "temperature" appeared at the same time').waitFor();
  const broken = changed
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: warmer.slug, exact: true }) });
  await broken.getByText('quarantined').waitFor();
  expect(await axe(page)).toEqual([]);
  await broken.getByRole('link').click();
  await page.getByRole('heading', { name: warmer.slug, level: 1 }).waitFor();
  await writeFile(join(dashboard.folder, 'answers.json'), '{"temp":20,"sky":"clear"}');
  await look(12, 'again');
  await page.goBack();
  await row.getByText('active').waitFor();
  await expect.poll(() => changed.count()).toBe(0);
});
