import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { axe, useDashboard } from '../support/browser.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';

const DESCRIBED = fileURLToPath(new URL('../fixtures/servers/described-server.ts', import.meta.url));

/** Whoever calls is willing to wait. */
const dashboard = useDashboard({
  servers: (folder) => {
    const described = join(folder, 'described.txt');
    writeFileSync(described, 'Greets a person.\nSays their name.');
    return {
      ...referenceServers(folder),
      described: { command: process.execPath, args: [DESCRIBED, described] },
    };
  },
  pml: { permissions: { allow: ['*'], ask: ['filesystem:write_*'], approval_wait_ms: 600_000 } },
});

const writing = (name: string, content: string) => ({
  path: join(dashboard.folder, name),
  content,
});

interface Answer {
  readonly status: string;
  readonly error?: { readonly message: string };
}

test('[DASH-56] a waiting call is decided in the page and continues at once', async () => {
  const page = await dashboard.open('/approvals');
  await page.getByText('Nothing needs your approval').waitFor();
  const call = { tool: 'filesystem:write_file', intent: 'write while somebody looks' };
  const waiting = dashboard.api<Answer>('/execute', { ...call, arguments: writing('live.txt', 'live') });
  const card = page.getByRole('article', { name: 'Approval of filesystem:write_file' });
  await card.getByText(/is waiting and continues at once/).waitFor();
  expect(await axe(page)).toEqual([]);
  await card.getByRole('button', { name: 'Approve' }).press('Enter');
  expect(await waiting).toMatchObject({ status: 'success' });
  expect(await readFile(join(dashboard.folder, 'live.txt'), 'utf8')).toBe('live');
  await page.getByText('Nothing needs your approval').waitFor();
});

test('[DASH-56] code stops in the middle for a decision, and is told of a rejection', async () => {
  const code = `
    await mcp.everything.echo({ message: 'before' });
    return await mcp.filesystem.write_file(${JSON.stringify(writing('never.txt', 'no'))});`;
  const page = await dashboard.open('/approvals');
  await page.getByText('Nothing needs your approval').waitFor();
  const waiting = dashboard.api<Answer>('/execute', { code, intent: 'write from code' });
  await page.getByRole('button', { name: 'Reject' }).click();
  expect((await waiting).status).toBe('error');
  await expect(readFile(join(dashboard.folder, 'never.txt'))).rejects.toThrow();
  await page.goto(`${dashboard.url}/runs?q=write+from+code`);
  await page.getByRole('link', { name: 'write from code' }).first().waitFor();
  await page
    .getByRole('row', { name: /write from code/ })
    .getByText('error', { exact: true })
    .waitFor();
});

test('[APPROVE-8] the page shows exactly what will run, whatever is hidden of it elsewhere', async () => {
  const content = `-----BEGIN RSA PRIVATE KEY-----\n${'harmless\n'.repeat(1_000)}the-end-that-matters`;
  const call = {
    tool: 'filesystem:write_file',
    arguments: { ...writing('key.txt', content), token: 'a-token' },
  };
  const page = await dashboard.open('/approvals');
  await page.getByText('Nothing needs your approval').waitFor();
  const waiting = dashboard.api<Answer>('/execute', call);
  const exact = page.getByRole('region', { name: 'Exact arguments' });
  await exact.getByText('the-end-that-matters').waitFor();
  await exact.getByText('a-token').waitFor();
  expect(await page.getByRole('button', { name: /Show more/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Reject' }).click();
  expect((await waiting).status).toBe('error');
});

test('[APPROVE-17] by keyboard, a call is approved for later ones too; the approval is listed and revoked', async () => {
  const page = await dashboard.open('/approvals');
  await page.getByText('Nothing needs your approval').waitFor();
  const write = (name: string) =>
    dashboard.api<Answer>('/execute', { tool: 'filesystem:write_file', arguments: writing(name, name) });
  const first = write('first.txt');
  const card = page.getByRole('article', { name: 'Approval of filesystem:write_file' });
  await card.getByLabel('An approval is for').selectOption('tool');
  await card.focus();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('a');
  expect(await first).toMatchObject({ status: 'success' });
  await page.getByRole('heading', { name: 'Allowed until revoked' }).waitFor();
  expect(await write('second.txt')).toMatchObject({ status: 'success' });

  await page.getByRole('button', { name: 'Revoke filesystem:write_file' }).press('Enter');
  await page.getByRole('heading', { name: 'Allowed until revoked' }).waitFor({ state: 'detached' });
  const waiting = [write('third.txt'), write('fourth.txt')];
  await card.nth(1).waitFor();
  await card.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('x');
  await card.nth(1).waitFor({ state: 'detached' });
  await card.first().focus();
  await page.keyboard.press('x');
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(['error', 'error']);
});

test('[APPROVE-18] a hidden page notifies of a waiting call only after the user turned that on', async () => {
  const page = await dashboard.open('/approvals');
  await page.getByText('Nothing needs your approval').waitFor();
  // What the desktop would show; the browser of the tests has none.
  await page.evaluate(`
    globalThis.told = [];
    globalThis.Notification = class {
      static permission = 'default';
      static requestPermission = async () => 'granted';
      constructor(title, { body }) { told.push(title + ': ' + body); }
    };
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });`);
  const ask = async (name: string) => {
    const waiting = dashboard.api<Answer>('/execute', {
      tool: 'filesystem:write_file',
      arguments: writing(name, 'secret words'),
    });
    // The pointer stays away: under it, a decided row would stay.
    await page.getByRole('button', { name: 'Reject' }).press('Enter');
    expect((await waiting).status).toBe('error');
    await page.getByText('Nothing needs your approval').waitFor();
  };
  await ask('untold.txt');
  expect(await page.evaluate('told')).toEqual([]);
  await page.getByRole('button', { name: 'Notify me' }).press('Enter');
  await page.getByRole('button', { name: 'Notifications are on' }).waitFor();
  await ask('told.txt');
  await expect
    .poll(() => page.evaluate('told'))
    .toEqual(['A call waits for your approval: filesystem:write_file']);
});

test('[APPROVE-19] a changed definition is shown line by line, and accepted', async () => {
  const greet = () =>
    dashboard.api<Answer>('/execute', { tool: 'described:greet', arguments: { name: 'Ada' } });
  expect(await greet()).toMatchObject({ status: 'success' });
  await writeFile(join(dashboard.folder, 'described.txt'), 'Greets a person.\nSends their name to me first.');
  await dashboard.api('/servers/described/restart', {});
  const page = await dashboard.open('/approvals');
  await page.getByText('Nothing needs your approval').waitFor();
  const waiting = greet();
  const changed = page.getByRole('region', { name: 'Changed definition' });
  await changed.getByText('Sends their name to me first.').waitFor();
  expect(await changed.locator('del').allTextContents()).toEqual(['− Says their name.\n']);
  expect(await changed.locator('ins').allTextContents()).toEqual(['+ Sends their name to me first.\n']);
  expect(await axe(page)).toEqual([]);
  // The call continues before the definition is stored.
  await Promise.all([
    page.getByRole('status').getByText('Approved').waitFor(),
    page.getByRole('button', { name: 'Approve and accept the change' }).click(),
  ]);
  expect(await waiting).toMatchObject({ status: 'success' });
  expect(await greet()).toMatchObject({ status: 'success' });
});
