import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useDashboard } from '../support/browser.ts';
import { heldFile } from '../support/held-file.ts';
import { NARROW } from '../support/launch-browser.ts';

const RULE = 'filesystem:write_*';
const dashboard = useDashboard({
  pml: { permissions: { allow: ['*'], ask: [RULE], approval_wait_ms: 1 } },
});

const taskOf = (page: Page, id: string): Locator => page.locator('.plan-task', { hasText: `${id} ·` });
/** How a task stands, in words. */
const stateOf = (page: Page, id: string, said: string): Locator =>
  page.locator('.plan-said', { hasText: `${id} · ${said}` });
const fileOf = (name: string) => join(dashboard.folder, name);

interface Told {
  readonly status: string;
  readonly run_id: string;
}

const runPlan = (tasks: readonly object[], intent: string, run_id: string = randomUUID()) =>
  dashboard.api<Told>('/workflows', { workflow: { tasks }, intent, run_id });

const write = (id: string, name: string, content = 'hello') => ({
  id,
  tool: 'filesystem:write_file',
  arguments: { path: fileOf(name), content },
});

test('[DASH-51] a plan is a graph with live states: done, failed, skipped with the reason', async () => {
  const runId = randomUUID();
  const held = await heldFile(fileOf('held'));
  const slow = { tool: 'filesystem:read_text_file', arguments: { path: fileOf('held') } };
  const running = runPlan(
    [
      { id: 'first', tool: 'everything:echo', arguments: { message: 'go' } },
      { id: 'slow', ...slow, depends_on: ['first'] },
      {
        id: 'broken',
        tool: 'filesystem:read_text_file',
        arguments: { path: '/nowhere' },
        depends_on: ['first'],
      },
      { id: 'after', tool: 'everything:echo', arguments: { message: '${broken}' }, depends_on: ['broken'] },
    ],
    'a plan that partly fails',
    runId,
  );
  const list = await dashboard.open('/workflows');
  await list.getByRole('link', { name: 'a plan that partly fails' }).click();
  await stateOf(list, 'slow', 'running').waitFor();
  await stateOf(list, 'first', 'done').waitFor();
  await held.release();
  expect((await running).status).toBe('error');
  await stateOf(list, 'slow', 'done').waitFor();
  await stateOf(list, 'broken', 'failed').waitFor();
  await stateOf(list, 'after', 'skipped').waitFor();
  await taskOf(list, 'after').click();
  await list.getByText('Skipped because').waitFor();
  expect(await axe(list)).toEqual([]);

  await taskOf(list, 'first').focus();
  await list.keyboard.press('ArrowRight');
  await list.keyboard.press('Enter');
  await expect.poll(() => new URL(list.url()).searchParams.get('task')).not.toBe('after');
  await list.getByRole('link', { name: 'Timeline' }).click();
  await list.locator('.call-line').first().waitFor();

  const narrow = await dashboard.open(`/workflows/${runId}`, { size: NARROW, theme: 'light' });
  await taskOf(narrow, 'first').waitFor();
  expect(await narrow.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await axe(narrow)).toEqual([]);
});

test('[DASH-52] a paused run is approved in the page with its exact arguments and rule in view, and ends', async () => {
  const { status } = await runPlan([write('save', 'approved.txt')], 'save it');
  expect(status).toBe('approval_required');
  const page = await dashboard.open('/approvals');
  const card = page.getByRole('article', { name: 'Approval of filesystem:write_file' });
  await card.getByText(`permissions.ask has "${RULE}"`).waitFor();
  await card.getByRole('region', { name: 'Exact arguments' }).getByText(fileOf('approved.txt')).waitFor();
  await page.getByRole('link', { name: /Approvals.*waiting for approval/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await card.getByRole('link', { name: 'save it' }).click();
  await stateOf(page, 'save', 'needs approval').waitFor();
  await page.getByRole('button', { name: 'Approve and continue' }).click();
  await stateOf(page, 'save', 'done').waitFor();
  await page.getByText('by dashboard').waitFor();
  expect(await readFile(fileOf('approved.txt'), 'utf8')).toBe('hello');
  await page.goto(`${dashboard.url}/approvals`);
  await page.getByText('Nothing needs your approval').waitFor();
});

test('[DASH-53] the arguments of a waiting call are edited; invalid ones are refused, valid ones ask again', async () => {
  await dashboard.api('/execute', {
    tool: 'filesystem:write_file',
    arguments: { path: fileOf('before.txt'), content: 'x' },
    intent: 'write one file',
  });
  const page = await dashboard.open('/approvals', { expected: /400/ });
  await page.getByRole('button', { name: 'Edit arguments' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit arguments' });
  const field = dialog.getByLabel('Arguments as JSON');
  await field.fill('{"path": ');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText(/JSON/).last().waitFor();
  await field.fill('{"path": 7}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/content/)
    .waitFor();
  await dialog.getByRole('alert').getByText(/path/).first().waitFor();
  expect(await axe(page)).toEqual([]);
  await field.fill(JSON.stringify({ path: fileOf('after.txt'), content: 'edited' }));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Exact arguments' }).getByText(fileOf('after.txt')).waitFor();
  await page.getByRole('button', { name: 'Approve and continue' }).click();
  await page.getByText('Nothing needs your approval').waitFor();
  await expect.poll(() => readFile(fileOf('after.txt'), 'utf8').catch(() => '')).toBe('edited');
  await expect(readFile(fileOf('before.txt'))).rejects.toThrow();
});

test('[DASH-54] a person rejects a task or aborts a whole run, and sees what happened to the rest', async () => {
  const tasks = [
    write('keep', 'kept.txt'),
    { id: 'echo', tool: 'everything:echo', arguments: { message: '${keep}' } },
  ];
  const rejected = await runPlan(tasks, 'to be rejected');
  const page = await dashboard.open(`/workflows/${rejected.run_id}`);
  await page.getByRole('button', { name: 'Reject' }).click();
  await stateOf(page, 'keep', 'failed').waitFor();
  await stateOf(page, 'echo', 'skipped').waitFor();
  await page.getByRole('button', { name: 'Run again' }).waitFor();

  const aborted = await runPlan(tasks, 'to be given up');
  await page.goto(`${dashboard.url}/workflows/${aborted.run_id}`);
  await page.getByRole('button', { name: 'Abort', exact: true }).click();
  await page.getByRole('button', { name: 'Abort run' }).click();
  await page.getByText('aborted').first().waitFor();
  await page.getByRole('button', { name: 'Approve and continue' }).waitFor({ state: 'detached' });
  await expect(readFile(fileOf('kept.txt'))).rejects.toThrow();
});

test('[DASH-55] a plan is suggested for an intent with its reasons, takes its inputs, and runs', async () => {
  const page = await dashboard.open('/workflows');
  await page.getByLabel('What do you want to do?').fill('echo a message');
  await page.getByRole('button', { name: 'Suggest a plan' }).click();
  await page.getByText(/sure in all/).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get('intent')).toBe('echo a message');
  await page.locator('.plan-task').first().waitFor();
  await page.getByText('fits the intent by its name and description').first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Run this plan' }).click();
  await page.getByText('This is required.').first().waitFor();
  for (const input of await page.locator('.form-field input[type=text], .form-field textarea').all()) {
    await input.fill('hi there');
  }
  await page.getByRole('button', { name: 'Run this plan' }).click();
  await page.waitForURL(/\/workflows\/[0-9a-f-]{36}/);
  await page.getByRole('heading', { name: 'echo a message' }).waitFor();
  await page.locator('.plan-task').first().waitFor();
});
