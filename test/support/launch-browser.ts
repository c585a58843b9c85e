import sparticuz from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { oneAtATime } from './one-at-a-time.ts';

export const WIDE = { width: 1280, height: 860 };
export const NARROW = { width: 390, height: 844 };

/** As long as whatever else is polled for: a busy machine takes its time. */
const PATIENCE_MS = 60_000;

export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * The default arguments of the package would end the browser with its first window and switch off protections that
 * are tested here. A software GPU would take twice the processor time.
 */
const ARGS = ['--no-sandbox', '--font-render-hinting=none', '--disable-gpu'];

/** `CHROMIUM` names an installed browser; without it, the one that comes with the tests is used. */
export async function launchBrowser(): Promise<Browser> {
  // Of two that unpack it at once, the second would start an incomplete one.
  const executablePath =
    process.env.CHROMIUM ?? (await oneAtATime('chromium', () => sparticuz.executablePath()));
  return await chromium.launch({ executablePath, args: ARGS, timeout: PATIENCE_MS });
}

/** A window of its own, in which everything is waited for with the same patience. */
export async function newContext(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** The state of a browser that followed the link; contexts created with it are logged in. */
export async function signIn(browser: Browser, loginUrl: string): Promise<SignedIn> {
  const context = await newContext(browser);
  const page = await context.newPage();
  await page.goto(loginUrl);
  await page.waitForURL(({ pathname }) => pathname === '/');
  const state = await context.storageState();
  await context.close();
  return state;
}
