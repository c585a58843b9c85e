/**
 * `npm run screenshots`: every page of the demo at two widths and in both themes.
 *
 *   node scripts/screenshots.ts [FOLDER] [--only NAME]... [--docs]
 *
 * `--docs` writes the pictures of the README and the docs instead.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import type { Capabilities, Traces } from '../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../src/surfaces/dashboard/shared/routes.ts';
import { launchBrowser, NARROW, signIn, WIDE } from '../test/support/launch-browser.ts';
import { launchPml } from '../test/support/run-pml.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The last of the demo's jobs, and its number of calls. */
const LAST = { intent: 'write a page about Linus', times: 3 };
/** Those that the README and the docs show. */
const DOCUMENTED = ['graph', 'run', 'home', 'calls', 'capabilities', 'learning'];
/** Long enough for layouts and fades to finish. */
const SETTLE_MS = 900;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true }, docs: { type: 'boolean' } },
});

/** Fetched by the page, which is signed in. */
function ask<T>(page: Page, path: string): Promise<T> {
  return page.evaluate(async (address) => {
    const authorization = `Bearer ${localStorage.getItem('pml-session')}`;
    return await (await fetch(address, { headers: { authorization } })).json();
  }, `/api${path}`) as Promise<T>;
}

async function untilExamplesRan(page: Page): Promise<Traces> {
  for (;;) {
    const found = await ask<Traces>(page, '/traces');
    const ran = found.traces.filter(({ intent_text }) => intent_text === LAST.intent);
    if (ran.length >= LAST.times) return found;
    await page.waitForTimeout(300);
  }
}

/** Number of different nodes a run called; operations within a program do not count. */
function variety({ executed_path }: Traces['traces'][number]): number {
  return new Set(executed_path.filter((node) => !node.startsWith('code:'))).size;
}

/** Every page, and one example of each kind. */
async function shotsOf(page: Page): Promise<Readonly<Record<string, string>>> {
  const { traces } = await untilExamplesRan(page);
  const richest = traces.toSorted((a, b) => variety(b) - variety(a))[0];
  const { capabilities } = await ask<Capabilities>(page, '/capabilities');
  const [capability] = capabilities;
  return {
    home: href.home(),
    graph: href.graph(),
    runs: href.runs(),
    ...(richest && { run: href.run(richest.id), invocation: href.graph({ run: richest.id }) }),
    calls: href.calls(),
    'calls-by-tool': href.calls({ group: 'tool' }),
    approvals: href.approvals(),
    workflows: href.workflows(),
    capabilities: href.capabilities(),
    ...(capability && { capability: href.capability(capability.slug) }),
    search: href.search('read a text file'),
    learning: href.learning(),
    keys: href.keys(),
  };
}

async function shoot(context: BrowserContext, address: string, path: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByLabel('Loading', { exact: true }).first().waitFor({ state: 'detached' });
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path });
  await page.close();
}

const data = mkdtempSync(join(tmpdir(), 'pml-screenshots-'));
const demo = await launchPml(['serve', '--demo', '--port', '0', '--data', data], { cwd: ROOT });
const loginUrl = String(demo.ready.login_url);
const browser = await launchBrowser();
try {
  const storageState = await signIn(browser, loginUrl);
  const { origin } = new URL(loginUrl);
  const first = await browser.newContext({ viewport: WIDE, storageState });
  const page = await first.newPage();
  await page.goto(origin);
  const shots = await shotsOf(page);
  const names = values.docs ? DOCUMENTED : (values.only ?? Object.keys(shots));
  const folder = resolve(ROOT, values.docs ? 'docs/images' : (positionals[0] ?? 'screenshots'));
  mkdirSync(folder, { recursive: true });
  for (const theme of values.docs ? (['dark'] as const) : (['dark', 'light'] as const)) {
    for (const [width, viewport] of Object.entries(values.docs ? { WIDE } : { WIDE, NARROW })) {
      const context = await browser.newContext({ viewport, colorScheme: theme, storageState });
      for (const name of names) {
        const path = shots[name];
        if (path === undefined)
          throw new Error(`No page ${name}; there are ${Object.keys(shots).join(', ')}`);
        const file = values.docs ? `${name}.png` : `${name}-${width.toLowerCase()}-${theme}.png`;
        await shoot(context, `${origin}${path}`, join(folder, file));
      }
      await context.close();
    }
  }
  console.log(`${folder}: ${names.join(', ')}`);
} finally {
  await browser.close();
  demo.child.kill('SIGTERM');
  await demo.exited;
  rmSync(data, { recursive: true, force: true });
}
