import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { CreatedKey, Keys } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { withinOneDay } from '../support/within-one-day.ts';

const dashboard = useDashboard({ servers: (folder) => ({ memory: referenceServers(folder).memory! }) });

const create = (order: object) => dashboard.api<CreatedKey>('/operations/create_key', order);

async function stored(name: string): Promise<Keys['keys'][number] | undefined> {
  const { keys } = await dashboard.api<Keys>('/operations/list_keys', { revoked: true });
  return keys.find((key) => key.name === name);
}

/** What the gateway answers to this secret. */
async function statusWith(secret: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  return (await fetch(`${dashboard.url}/api/me`, { headers })).status;
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

/** Tabs on until this is where the focus is. */
async function tabTo(page: Page, target: ReturnType<Page['getByRole']>): Promise<void> {
  const isThere = () => target.evaluate((element) => element === document.activeElement);
  for (let i = 0; i < 60 && !(await isThere()); i++) await page.keyboard.press('Tab');
  expect(await isThere()).toBe(true);
}

test('[DASH-93] a key is created, narrowed and revoked by keyboard alone, and its secret is shown once', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('link', { name: 'Keys', exact: true }).waitFor();
  await Promise.all([page.keyboard.press('g'), page.keyboard.press('k')]);
  await page.getByText('No keys yet').waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Create a key' }));
  await page.keyboard.press('Enter');
  const name = page.locator('dialog input:focus');
  await name.waitFor();
  await page.keyboard.type('ci');
  await expect.poll(() => name.inputValue()).toBe('ci');
  await tabTo(page, page.getByRole('group', { name: /^limits/ }).getByRole('button', { name: 'Add one' }));
  await page.keyboard.press('Enter');
  const limit = page.getByLabel('limits 1', { exact: true });
  await limit.waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await tabTo(page, limit);
  await page.keyboard.type('calls per hour');
  await page.keyboard.press('Enter');
  await page.getByText('String does not match pattern.').waitFor();
  await limit.focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('calls/hour=200');
  await page.keyboard.press('Enter');
  // Where the secret is, the focus is on the button that copies it.
  await page.getByRole('dialog', { name: 'The key ci' }).waitFor();
  await page.locator('button[aria-label="Copy the key"]:focus').waitFor();
  const secret = String(await page.locator('.keys-secret').textContent());
  expect(await statusWith(secret)).toBe(200);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('.page-actions button:focus').waitFor();
  await rowOf(page, 'ci').getByText('0 of 200 calls this hour').waitFor();
  expect(await page.content()).not.toContain(secret);
  expect(await stored('ci')).toMatchObject({ role: 'agent', user: 'ci', created_by: 'dashboard' });

  await tabTo(page, page.getByRole('button', { name: 'Change the scope of ci' }));
  await page.keyboard.press('Enter');
  const allow = page.getByRole('group', { name: /^allow/ });
  await tabTo(page, allow.getByRole('button', { name: 'Add one' }));
  await page.keyboard.press('Enter');
  const glob = page.getByLabel('allow 1', { exact: true });
  await glob.waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await tabTo(page, glob);
  await page.keyboard.type('memory:read_*');
  await page.keyboard.press('Enter');
  await rowOf(page, 'ci').getByText('Only tools memory:read_*').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await stored('ci'))?.scope).toMatchObject({
    tools: { allow: ['memory:read_*'], deny: [] },
    limits: [{ unit: 'calls', per: 'hour', most: 200 }],
    loops: 8,
  });

  await tabTo(page, page.getByRole('button', { name: 'Revoke ci' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Revoke ci?' }).waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Keep it' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('button[aria-label="Revoke ci"]:focus').press('Enter');
  await tabTo(page, page.getByRole('button', { name: 'Revoke it' }));
  await page.keyboard.press('Enter');
  await page.getByText('No keys yet').waitFor();
  await page.locator('main h1:focus').waitFor();
  expect(await statusWith(secret)).toBe(401);
  expect(await stored('ci')).toMatchObject({ revoked_by: 'dashboard' });
});

test('[DASH-93] each key shows its scope, its limits and their use, wide and narrow, in both themes', async () => {
  await withinOneDay();
  const scope = {
    tools: { allow: ['memory:*'], deny: ['memory:delete_*'] },
    servers: { allow: ['*'], deny: ['prod'] },
    limits: [
      { unit: 'calls', per: 'day', most: 2 },
      { unit: 'tokens', per: 'day', most: 500_000 },
    ],
    lane: 'native',
  };
  const { key } = await create({ name: 'ada-laptop', user: 'ada', scope });
  await create({ name: 'grafana', role: 'viewer' });
  await create({ name: 'on-call', role: 'operator', user: 'grace' });
  await create({ name: 'old', role: 'agent' });
  await dashboard.api('/operations/revoke_key', { name: 'old' });
  for (let i = 0; i < 2; i++) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ tool: 'memory:read_graph', arguments: {} });
    expect((await fetch(`${dashboard.url}/api/execute`, { method: 'POST', headers, body })).status).toBe(200);
  }
  for (const { size, theme } of [{ theme: 'dark' }, { theme: 'light', size: NARROW }] as const) {
    const page = await dashboard.open(href.keys(), { theme, ...(size && { size }) });
    const row = rowOf(page, 'ada-laptop');
    await row.getByText('Only tools memory:*, but not memory:delete_*').waitFor();
    await row.getByText('All servers, but not prod').waitFor();
    await row.getByText('MCP clients see the tools of the servers').waitFor();
    await row.getByText('2 of 2 calls today used up').waitFor();
    expect(await row.getByRole('meter', { name: 'calls used today' }).getAttribute('value')).toBe('2');
    await rowOf(page, 'on-call').getByText('Everything that its role allows').waitFor();
    expect(await rowOf(page, 'old').count()).toBe(0);
    if (!size) {
      await row.getByRole('link', { name: /ago|now/ }).waitFor();
      await rowOf(page, 'on-call').getByText('never').waitFor();
    }
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Change the scope of ada-laptop' }).click();
    await page.getByLabel('limits 2', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByLabel('State').selectOption('revoked');
    await rowOf(page, 'old').getByText('revoked', { exact: true }).waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('Role').selectOption('viewer');
    await rowOf(page, 'on-call').waitFor({ state: 'detached' });
    expect(await rowOf(page, 'grafana').count()).toBe(1);
  }
});

test('[DASH-94] only users who may manage keys see the page in the navigation; others see why not', async () => {
  const { key } = await create({ name: 'operator-1', role: 'operator' });
  const page = await dashboard.open(href.keys(), { signedIn: false, expected: /401/ });
  await page.getByLabel('Or sign in with a key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('may not manage keys').waitFor();
  expect(await page.getByRole('button', { name: 'Create a key' }).isDisabled()).toBe(true);
  expect(await page.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('keys');
  await page.getByRole('option', { name: /^Find tools for/ }).waitFor();
  expect(await page.getByRole('option', { name: 'Keys Page' }).count()).toBe(0);
});

test('[KEY-20] a browser of the owner manages keys, and nothing else that is reserved for the owner', async () => {
  const page = await dashboard.open(href.keys(), { expected: /403/ });
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  const ask = (address: string) =>
    page.evaluate(async (path) => {
      const authorization = `Bearer ${localStorage.getItem('pml-session')}`;
      const headers = { authorization, 'content-type': 'application/json' };
      return (await fetch(path, { method: 'POST', headers, body: '{}' })).status;
    }, address);
  expect(await ask('/api/operations/list_keys')).toBe(200);
  for (const name of ['create_login_link', 'back_up_store', 'set_server_credentials', 'import_traces'])
    expect(await ask(`/api/operations/${name}`), name).toBe(403);
  expect(await ask('/bridge')).toBe(403);
});
