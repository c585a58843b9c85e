import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { axe, useDashboard } from '../support/browser.ts';

/** Whoever calls is willing to wait. */
const dashboard = useDashboard({
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

test('[DASH-56] a call that waits is answered in the page and goes on at that moment', async () => {
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

test('[DASH-56] code stops in the middle for an answer; rejected, it is told so', async () => {
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
