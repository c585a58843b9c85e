import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Capabilities, Execution } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { runPml } from '../support/run-pml.ts';

const dashboard = useDashboard({
  pml: { permissions: { ask: ['memory:create_entities'], approval_wait_ms: 0 } },
});

let run: Execution;
let slug: string;

beforeAll(async () => {
  const code =
    'const { entities } = await mcp.memory.read_graph({}); return entities.map(({ name }) => name).length';
  const intent = 'count what is remembered';
  for (let nth = 0; nth < 2; nth++) run = await dashboard.api('/execute', { code, intent });
  await dashboard.api('/execute', { tool: 'memory:create_entities', arguments: { entities: [] } });
  slug = await vi.waitFor(
    async () => {
      const { capabilities } = await dashboard.api<Capabilities>('/capabilities');
      return capabilities.find(({ state }) => state === 'active')!.slug;
    },
    { timeout: 60_000, interval: 100 },
  );
});

/** The page for a user with a key of this role. */
async function openAs(role: 'viewer' | 'agent' | 'operator', size?: typeof NARROW): Promise<Page> {
  const name = `${role}-${Math.random().toString(36).slice(2)}`;
  const made = await runPml(['keys', 'create', name, '--role', role, '--json', '--data', dashboard.data]);
  const page = await dashboard.open('/', { signedIn: false, expected: /401/, ...(size && { size }) });
  await page.getByLabel('Or sign in with a key').fill(JSON.parse(made.stdout).key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.bar-role', { hasText: role }).waitFor({ state: 'attached' });
  return page;
}

const go = (page: Page, address: string) => page.goto(`${dashboard.url}${address}`);

/** What a button says of itself, once it is there. */
async function stateOf(page: Page, name: string | RegExp): Promise<string> {
  const button = page.getByRole('button', { name }).first();
  await button.waitFor();
  await page.locator('.bar-role').waitFor({ state: 'attached' });
  return (await button.isDisabled()) ? `refused: ${await button.getAttribute('title')}` : 'offered';
}

/** Every button that does something, by address. */
async function offers(page: Page): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await go(page, '/');
  found.approve = await stateOf(page, /^Approve/);
  found.reject = await stateOf(page, /^Reject/);
  await page.getByRole('tab', { name: 'Run code' }).click();
  found.code = await stateOf(page, 'Run');
  await go(page, href.run(run.trace_id!));
  found.again = await stateOf(page, 'Run again');
  await go(page, '/workflows');
  found.suggest = await stateOf(page, 'Suggest a plan');
  await go(page, href.capability(slug));
  found.capability = await stateOf(page, 'Run');
  found.quarantine = await stateOf(page, 'Quarantine');
  found.export = await stateOf(page, 'Export');
  await go(page, `${href.search('read the graph')}&tab=try`);
  found.call = await stateOf(page, 'Call');
  return found;
}

const refused = (what: string, role: string) =>
  expect.stringMatching(
    new RegExp(`^refused: The key "${role}-.*" has the role "${role}" and may not ${what}$`),
  );

test('[DASH-16] a viewer can only look, and each disabled button says why', async () => {
  const page = await openAs('viewer');
  const [run, decide, manage] = ['run anything', 'decide on approvals', 'change what PML has learned'].map(
    (what) => refused(what, 'viewer'),
  );
  expect(await offers(page)).toEqual({
    approve: decide,
    reject: decide,
    code: run,
    again: run,
    suggest: run,
    capability: run,
    quarantine: manage,
    export: 'offered',
    call: run,
  });
  await go(page, href.capability(slug));
  await page.getByRole('button', { name: 'Quarantine', disabled: true }).waitFor();
  expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('train the ranker');
  await page.getByRole('option', { name: /^Find tools for/ }).waitFor();
  expect(await page.getByRole('option', { name: /Train the ranker/ }).count()).toBe(0);
  // A viewer with the address of a plan sees why not, and the gateway gets no request.
  await go(page, '/workflows/new?intent=read%20the%20graph');
  await page.getByText(/may not run anything/).waitFor();
  expect(await axe(page)).toEqual([]);
});

test('[DASH-16] an agent runs but cannot decide or manage; an operator can do all of it, also on a narrow screen', async () => {
  const agent = await offers(await openAs('agent'));
  expect(agent).toMatchObject({
    approve: refused('decide on approvals', 'agent'),
    code: 'offered',
    again: 'offered',
    suggest: 'offered',
    call: 'offered',
    quarantine: refused('change what PML has learned', 'agent'),
  });
  const page = await openAs('operator', NARROW);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await axe(page)).toEqual([]);
  expect(new Set(Object.values(await offers(page)))).toEqual(new Set(['offered']));
});
