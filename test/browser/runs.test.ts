import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Traces } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { heldFile } from '../support/held-file.ts';
import { NARROW } from '../support/launch-browser.ts';

// It is started again there: a port that the system gave might be somebody else's by then.
const dashboard = useDashboard({ port: await freePort() });

interface Answer {
  readonly status: string;
  readonly trace_id: string;
}

const run = (code: string, intent: string) => dashboard.api<Answer>('/execute', { code, intent });
/** A call that lasts until the test releases it, and three parallel ones after it. */
async function slow(): Promise<{ readonly code: string; release(): Promise<void> }> {
  const path = join(dashboard.folder, randomUUID());
  const { release } = await heldFile(path);
  const code = `
    // Chosen at run time: such a program is not run once more by itself.
    const [read] = ['read_text_file', ''].filter((name) => name !== '');
    await mcp.filesystem[read]({ path: ${JSON.stringify(path)} });
    return await Promise.all([1, 2, 3].map((a) => mcp.everything['get-sum']({ a, b: a })));`;
  return { code, release };
}
/** Side by side, whatever the machine is doing. */
const PARALLEL = `return await Promise.all([1, 1, 1].map((duration) =>
  mcp.everything['trigger-long-running-operation']({ duration, steps: 1 })));`;

const rowOf = (page: Page, name: string): Locator => page.getByRole('row').filter({ hasText: name });
const stateOf = (page: Page, name: string, status: string): Locator =>
  rowOf(page, name).getByText(status, { exact: true });
const callsOf = (page: Page): Locator => page.locator('.call-line');

/** Runs that PML repeats by itself do not count: they come when it has the time. */
async function untilStored(count: number, query: string): Promise<Traces['traces']> {
  for (;;) {
    const { traces } = await dashboard.api<Traces>(`/traces?${query}`);
    const first = traces.filter(({ origin }) => origin === 'agent');
    if (first.length >= count) return first;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('[DASH-42] a run appears as it starts, ends in place, and nothing moves under the pointer', async () => {
  await run('return 1', 'an earlier one');
  const page = await dashboard.open('/runs');
  await rowOf(page, 'an earlier one').waitFor();
  const { code, release } = await slow();
  const running = run(code, 'a slow one');
  await stateOf(page, 'a slow one', 'running').waitFor();
  await page.getByText('1 run in progress').waitFor();
  await release();
  expect((await running).status).toBe('success');
  await stateOf(page, 'a slow one', 'success').waitFor();
  await expect.poll(() => rowOf(page, 'a slow one').count()).toBe(1);

  const names = () => page.locator('.runs-title').allTextContents();
  const before = await names();
  await rowOf(page, 'an earlier one').hover();
  await run('return 2', 'a later one');
  await page.getByRole('button', { name: 'Show 1 new run' }).waitFor();
  expect(await names()).toEqual(before);
  await page.mouse.move(0, 0);
  await rowOf(page, 'a later one').waitFor();
  await expect.poll(names).toEqual(['a later one', ...before]);
  expect(await axe(page)).toEqual([]);
});

test('[DASH-50] the filters of the list are in the address, page by page', async () => {
  await run(`return await mcp.everything.echo({ message: 'x' })`, 'filtered: say x');
  await run(`return await mcp.nowhere.nothing({})`, 'filtered: call nothing');
  await dashboard.api('/execute', {
    tool: 'everything:echo',
    arguments: { message: 'y' },
    intent: 'filtered: y',
  });
  await untilStored(3, 'q=filtered');
  const page = await dashboard.open('/runs?q=filtered');
  await rowOf(page, 'filtered: say x').first().waitFor();
  const titles = () => page.locator('.runs-title').allTextContents();
  await expect.poll(async () => new Set(await titles()).size).toBe(3);
  await page.getByLabel('Status').selectOption('error');
  await expect.poll(() => page.locator('.runs-title').allTextContents()).toEqual(['filtered: call nothing']);
  expect(page.url()).toContain('status=error');
  await page.getByLabel('Status').selectOption('');
  await page.getByLabel('Kind').selectOption('tool');
  await expect.poll(() => page.locator('.runs-title').allTextContents()).toEqual(['filtered: y']);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.keyboard.press('Escape');
  await page.locator('body').press('/');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('call ');
  // The list follows a user who pauses while typing, and takes nothing from them.
  await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'call');
  await page.keyboard.type('nothing');
  await expect.poll(() => page.locator('.runs-title').allTextContents()).toEqual(['filtered: call nothing']);
  await page.reload();
  await expect.poll(() => page.locator('.runs-title').allTextContents()).toEqual(['filtered: call nothing']);
  await page.getByLabel('Search intents').fill('no run is called that');
  await page.getByText('No matching runs').waitFor();

  for (let i = 0; i < 41; i++) await run(`return ${i}`, `paged ${i}`);
  await page.goto(`${dashboard.url}/runs?q=paged`);
  await page.getByRole('link', { name: 'Older' }).click();
  await expect.poll(() => page.locator('.runs-title').allTextContents()).toEqual(['paged 0']);
  await page.goBack();
  await expect.poll(() => page.locator('.runs-title').count()).toBe(40);
});

test('[DASH-43] a run is a tree for the keyboard, with inputs and outputs', async () => {
  await writeFile(join(dashboard.folder, 'people.txt'), 'Ada\nGrace');
  const { trace_id } = await run(
    `const file = await mcp.filesystem.read_text_file({ path: ${JSON.stringify(join(dashboard.folder, 'people.txt'))} });
     await mcp.everything.echo({ message: String(file.content ?? file).split('\\n').join(', ') });
     return await mcp.filesystem.read_text_file({ path: 'no-such-file' }).catch(() => 'not there');`,
    'read the people',
  );
  const page = await dashboard.open(`/runs/${trace_id}?tab=tree`);
  await page.getByRole('heading', { name: 'read the people' }).waitFor();
  await callsOf(page).nth(2).waitFor();
  expect(await callsOf(page).count()).toBe(3);

  await callsOf(page).first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const second = page.locator('.call').nth(1);
  await second.getByRole('region', { name: 'Arguments' }).getByText('Grace').waitFor();
  expect(page.url()).toMatch(/call=/);
  await page.keyboard.press('Enter');
  await second.getByRole('region', { name: 'Arguments' }).waitFor({ state: 'detached' });
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const failed = page.locator('.call').nth(2);
  await failed.getByText('NOT_FOUND').or(failed.getByText('PERMISSION')).first().waitFor();
  expect(await callsOf(page).nth(2).textContent()).toMatch(/^error/);
  expect(await axe(page)).toEqual([]);

  await page.getByRole('button', { name: /Show \d+ steps? within the program/ }).click();
  await expect.poll(() => callsOf(page).count()).toBeGreaterThan(3);
  await page.getByRole('tab', { name: 'Program' }).click();
  await page.getByRole('region', { name: 'Program' }).getByText('read_text_file').first().waitFor();
  await page.getByRole('tab', { name: 'Result' }).click();
  await page.getByText('not there').waitFor();

  await dashboard.api('/execute', {
    tool: 'filesystem:read_text_file',
    arguments: { path: '/nowhere/x' },
    intent: 'fails',
  });
  const [failure] = await untilStored(1, 'q=fails');
  const narrow = await dashboard.open(`/runs/${failure!.id}`, { size: NARROW, theme: 'light' });
  await narrow.getByText('error', { exact: true }).first().waitFor();
  expect(await axe(narrow)).toEqual([]);
});

test('[DASH-87] the program of a run has an outline: what it can do, including what this run did not', async () => {
  const code = `const text = 'x';
    if (text.length > 3) await mcp.memory.read_graph({});
    for (const a of [1, 2]) await mcp.everything['get-sum']({ a, b: 2 });
    const tool = ['echo'][0];
    return await mcp.everything[tool]({ message: text });`;
  const { trace_id } = await run(code, 'an outline');
  const page = await dashboard.open(`/runs/${trace_id}?tab=program`);
  await page.getByText('Outline', { exact: true }).click();
  const steps = page.getByRole('list', { name: 'Steps of the program' });
  await steps.getByText('memory:read_graph').waitFor();
  await steps.getByText('everything:get-sum').first().waitFor();
  expect(await steps.getByRole('listitem').allTextContents()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^if .*line 2/),
      expect.stringMatching(/^repeat .*line 3/),
      expect.stringMatching(/^call memory:read_graph.*line 2/),
    ]),
  );
  expect(await axe(page)).toEqual([]);
});

test('[DASH-44] on the time axis, parallel calls overlap', async () => {
  const { trace_id } = await run(PARALLEL, 'wait three times at once');
  const page = await dashboard.open(`/runs/${trace_id}`);
  await page.getByText('up to 3 at once').waitFor();
  const boxes = await page
    .locator('.call-bar')
    .evaluateAll((bars) =>
      bars.map((bar) => bar.getBoundingClientRect()).map(({ left, right }) => ({ left, right })),
    );
  expect(boxes).toHaveLength(3);
  const [latestStart, firstEnd] = [
    Math.max(...boxes.map((b) => b.left)),
    Math.min(...boxes.map((b) => b.right)),
  ];
  expect(latestStart).toBeLessThan(firstEnd);
  expect(await axe(page)).toEqual([]);
  const narrow = await dashboard.open(`/runs/${trace_id}`, { size: NARROW, theme: 'light' });
  await narrow.getByText('up to 3 at once').waitFor();
  expect(await narrow.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await axe(narrow)).toEqual([]);
});

test('[DASH-90] the time of a run is drawn by callers, by keyboard, with the path to the slowest call', async () => {
  const { trace_id } = await run(PARALLEL, 'wait three times at once');
  const page = await dashboard.open(`/runs/${trace_id}`);
  await page.getByRole('tab', { name: 'Flame' }).click();
  const blocks = page.getByRole('list', { name: 'Where the time went' });
  await blocks.getByRole('button').first().focus();
  await page.getByText('3 calls,').waitFor();
  expect(await axe(page)).toEqual([]);
  const narrow = await dashboard.open(`/runs/${trace_id}?tab=flame`, { size: NARROW, theme: 'light' });
  await narrow.getByText('3 calls,').waitFor();
  expect(await narrow.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await axe(narrow)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('[data-open]').waitFor();
  expect(page.url()).toContain('tab=tree');
});

test('[DASH-45] a user who opens a run in the middle sees what it did and sees it end', async () => {
  const { code, release } = await slow();
  const running = run(code, 'watched');
  const list = await dashboard.open('/runs');
  await stateOf(list, 'watched', 'running').waitFor();
  await list.getByRole('link', { name: 'watched' }).click();
  await callsOf(list).first().waitFor();
  await expect.poll(() => callsOf(list).first().textContent()).toContain('running');
  const middle = await dashboard.open(new URL(list.url()).pathname);
  await middle.getByRole('heading', { name: 'watched' }).waitFor();
  await callsOf(middle).first().waitFor();
  await release();
  await running;
  for (const page of [list, middle]) {
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    await expect.poll(() => callsOf(page).count()).toBe(4);
  }
});

test('[DASH-46] a run is repeated after a warning about the effects, and both are compared', async () => {
  const { trace_id } = await run(`return await mcp.everything['get-sum']({ a: 2, b: 3 })`, 'add two');
  const page = await dashboard.open(`/runs/${trace_id}`);
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run again' });
  await dialog.getByText('This is not a simulation').waitFor();
  await dialog.getByRole('region', { name: 'Program' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Run again' }).click();
  await dialog.getByText('It ended as').waitFor();
  await dialog.getByRole('link', { name: 'Compare both' }).click();
  await page.getByText('Both runs are the same').waitFor();
});

test('[DASH-47] two runs are selected in the list and shown side by side', async () => {
  const sum = (a: number) => `await mcp.everything['get-sum']({ a: ${a}, b: 1 });`;
  await run(`${sum(1)} return 1`, 'compared: once');
  await run(`${sum(2)} await mcp.everything.echo({ message: 'more' }); return 2`, 'compared: more');
  // A run whose trace is not stored yet cannot be compared.
  await untilStored(2, 'q=compared');
  const page = await dashboard.open('/runs?q=compared');
  await page.getByLabel('Compare compared: once').first().click();
  await page.getByText('Choose a second run to compare with').waitFor();
  await page.getByRole('link', { name: 'compared: more' }).first().click();
  await page.getByText('2 differences in 2 places').waitFor();
  await page.getByText('different arguments, a different result').waitFor();
  await page.getByText('only in the second').waitFor();
  await page.getByRole('button', { name: /get-sum/ }).press('Enter');
  await page
    .getByRole('region', { name: 'Arguments of the second' })
    .getByText('2', { exact: true })
    .waitFor();
  expect(await axe(page)).toEqual([]);
  const narrow = await dashboard.open(new URL(page.url()).pathname + new URL(page.url()).search, {
    size: NARROW,
    theme: 'light',
  });
  await narrow.getByText('2 differences in 2 places').waitFor();
  expect(await narrow.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await axe(narrow)).toEqual([]);
});

test('[DASH-48] every output of a tool is text: markup, direction marks, control characters, a megabyte', async () => {
  const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202Etxet\u0007`;
  await writeFile(join(dashboard.folder, 'hostile.txt'), hostile + 'x'.repeat(60_000));
  const path = JSON.stringify(join(dashboard.folder, 'hostile.txt'));
  const { trace_id } = await run(
    `await mcp.filesystem.read_text_file({ path: ${path} }); return '<b>bold</b>'.repeat(90000)`,
    hostile,
  );
  const page = await dashboard.open(`/runs/${trace_id}?tab=tree`);
  await callsOf(page).first().press('Enter');
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('<img src=x onerror=').first().waitFor();
  expect(await result.textContent()).toContain('\\u202e');
  expect(await result.textContent()).toContain('\\u0007');
  await page.getByRole('tab', { name: 'Result' }).click();
  await page.getByText('<b>bold</b>').first().waitFor();
  expect(await page.locator('main img, main b, main script').count()).toBe(0);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('\\u202e');
  await page.goto(`${dashboard.url}/runs`);
  await page.locator('.runs-title', { hasText: '<img' }).first().waitFor();
});

test('[DASH-49] a page that was open while the gateway restarted misses nothing', async () => {
  const page = await dashboard.open('/runs?q=restart', { expected: /Failed to load|ERR_|net::/ });
  await run('return 1', 'restart: before');
  await rowOf(page, 'restart: before').waitFor();
  await dashboard.stop();
  await page.getByText('Disconnected.').waitFor();
  await dashboard.start();
  // While the page may not be back yet.
  await run('return 2', 'restart: meanwhile');
  await page.getByText('Live', { exact: true }).waitFor();
  const { code, release } = await slow();
  const running = run(code, 'restart: after');
  await stateOf(page, 'restart: after', 'running').waitFor();
  await release();
  await running;
  await stateOf(page, 'restart: after', 'success').waitFor();
  await expect
    .poll(() => page.locator('.runs-title').allTextContents())
    .toEqual(['restart: after', 'restart: meanwhile', 'restart: before']);
});

test('[DIAG-2] a failed run says what differed first from the last good one, with links to both calls', async () => {
  const read = `await mcp.everything.echo({ message: 'begin' });
    return await mcp.filesystem.read_text_file({ path: 'diagnosed.txt' });`;
  await run(read, 'diagnose me');
  await untilStored(1, 'q=diagnose');
  await writeFile(join(dashboard.folder, 'diagnosed.txt'), 'hello');
  const good = await run(read, 'diagnose me');
  const bad = await run(read.replace('diagnosed.txt', 'gone.txt').replace('begin', 'start'), 'diagnose me');
  await untilStored(3, 'q=diagnose');
  const page = await dashboard.open(`/runs/${bad.trace_id}`);
  const told = page.getByRole('region', { name: 'Diagnosis' });
  await told.getByText('for the same intent').waitFor();
  // On a busy machine a call may also take longer, which is reported as well.
  const departures = async () =>
    (await told.locator('li').allTextContents()).filter((text) => !text.includes(' took '));
  await expect
    .poll(departures)
    .toEqual([
      expect.stringMatching(
        /^First: everything:echo got different arguments at message: "start" instead of "begin"/,
      ),
      expect.stringContaining('everything:echo gave a different answer'),
      expect.stringMatching(/^filesystem:read_text_file got different arguments at path/),
      expect.stringContaining('filesystem:read_text_file failed where it had worked'),
    ]);
  expect(await told.getByRole('link', { name: 'last good run' }).getAttribute('href')).toBe(
    `/runs/${good.trace_id}`,
  );
  expect(await axe(page)).toEqual([]);
  await told.locator('li').first().getByRole('link').press('Enter');
  await page.locator('.call-details').getByText('start').first().waitFor();
});

test('[FORK-6] a click forks a run from one of its calls, and a run that cannot be forked says why', async () => {
  await writeFile(join(dashboard.folder, 'forked.txt'), 'one');
  const first = await run(
    `const said = await mcp.everything.echo({ message: 'kept' });
     return [said, await mcp.filesystem.read_text_file({ path: 'forked.txt' })];`,
    'fork me',
  );
  await writeFile(join(dashboard.folder, 'forked.txt'), 'two');
  await untilStored(1, 'q=fork%20me');
  const page = await dashboard.open(`/runs/${first.trace_id}?tab=tree`);
  await callsOf(page).filter({ hasText: 'read_text_file' }).press('Enter');
  await page.getByRole('button', { name: 'Run again from here' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Run again from here' }).click();
  await page.getByRole('dialog').getByText('success').waitFor();
  await page.getByRole('link', { name: 'Open the new run' }).click();
  await page.getByText('it continues from a step of another run').waitFor();
  await page.getByRole('tab', { name: 'Result' }).click();
  await page.getByText('two').first().waitFor();

  // A program with a secret in it cannot be repeated: secrets are not stored.
  const second = await run(
    `return await mcp.everything.echo({ message: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' })`,
    'say a secret',
  );
  await untilStored(1, 'q=say%20a%20secret');
  const refused = await dashboard.open(`/runs/${second.trace_id}?tab=tree`, { expected: /409/ });
  await callsOf(refused).first().press('Enter');
  await refused.getByRole('button', { name: 'Run again from here' }).click();
  const dialog = refused.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Run again from here' }).click();
  await dialog.getByRole('alert').getByText('held a secret that was not stored').waitFor();
});

test('[VERDICT-4] a person marks a run good or bad with a reason, by keyboard, and takes the mark back', async () => {
  const { trace_id } = await run(`return await mcp.everything.echo({ message: 'judged' })`, 'judge me');
  await untilStored(1, 'q=judge');
  const page = await dashboard.open(`/runs/${trace_id}`, { size: NARROW, theme: 'light' });
  await page.getByRole('button', { name: 'Bad run' }).press('Enter');
  await page.getByLabel('Reason').fill('it said too much');
  await page.getByLabel('Reason').press('Enter');
  await page.getByText('“it said too much”').waitFor();
  expect(await axe(page)).toEqual([]);
  const stored = await dashboard.api<{ verdict: unknown }>(`/traces/${trace_id}`);
  expect(stored.verdict).toMatchObject({ good: false, reason: 'it said too much', by: 'dashboard' });
  await page.reload();
  await page.getByRole('button', { name: 'Take back' }).press('Enter');
  await page.getByText('Did this run do what you wanted?').waitFor();
});
