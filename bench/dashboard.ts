import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { ensureBuiltPage } from '../test/support/built-page.ts';
import { launchBrowser, signIn, WIDE } from '../test/support/launch-browser.ts';
import { servePml } from '../test/support/run-pml.ts';
import { percentile } from './support/percentile.ts';
import { WATCH_FRAMES } from './support/watch-frames.ts';

const ECHO = fileURLToPath(new URL('./support/echo-server.ts', import.meta.url));
const OPENINGS = 7;
const EVENTS = { callsPerSecond: 70, seconds: 8 };
const TOOLS = 1_000;

/** Records when the figures first appear. */
const WATCH_FIGURES = `new MutationObserver((_, observer) => {
  if (document.querySelector('.figure-value')?.textContent?.match(/\\d/)) {
    globalThis.shownAt = performance.now();
    observer.disconnect();
  }
}).observe(document, { subtree: true, childList: true, characterData: true })`;

/** Records the age of each event when it reaches the page. */
const WATCH_EVENTS = `(() => {
  globalThis.ages = [];
  const plain = fetch;
  globalThis.fetch = async (address, request) => {
    const reply = await plain(address, request);
    if (!String(address).startsWith('/api/events')) return reply;
    const [seen, given] = reply.body.tee();
    void (async () => {
      for await (const piece of seen.pipeThrough(new TextDecoderStream()))
        for (const [, at] of piece.matchAll(/"at":"([^"]+)"/g)) ages.push(Date.now() - Date.parse(at));
    })();
    return new Response(given, reply);
  };
})()`;

export async function bench() {
  await ensureBuiltPage();
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const gateway = await serve(dir);
  const browser = await launchBrowser();
  try {
    const storageState = await signIn(browser, gateway.loginUrl);
    const open = async (path: string, ...scripts: string[]): Promise<Page> => {
      const context = await browser.newContext({ viewport: WIDE, storageState });
      const page = await context.newPage();
      for (const content of scripts) await page.addInitScript({ content });
      await page.goto(`${gateway.url}${path}`);
      return page;
    };
    return {
      name: 'dashboard',
      rows: [...(await firstPaint(open)), ...(await events(open, gateway.url, join(dir, 'data')))],
    };
  } finally {
    await browser.close();
    await gateway.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Open = (path: string, ...scripts: string[]) => Promise<Page>;

/** Each time in a fresh browser. */
async function firstPaint(open: Open) {
  const times: number[] = [];
  for (let i = 0; i < OPENINGS; i++) {
    const page = await open('/', WATCH_FIGURES);
    await page.waitForFunction(() => 'shownAt' in globalThis);
    times.push(await page.evaluate<number>('globalThis.shownAt'));
    await page.context().close();
  }
  return [
    { label: 'first figures on Home, median', value: percentile(times, 0.5), unit: 'ms', goal: '< 1000 ms' },
  ];
}

async function events(open: Open, url: string, data: string) {
  const page = await open('/', WATCH_EVENTS, WATCH_FRAMES);
  await page.getByText('Live', { exact: true }).waitFor();
  const token = (await readFile(join(data, 'token'), 'utf8')).trim();
  const call = () =>
    fetch(`${url}/api/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tool: 'echo:echo', arguments: { message: 'hello' } }),
    }).then((reply) => reply.text());
  await call();
  await page.evaluate('ages.length = 0; frames.length = 0;');
  const start = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let i = 0; i < EVENTS.callsPerSecond * EVENTS.seconds; i++) {
    calls.push(call());
    await sleep(Math.max(0, start + ((i + 1) * 1000) / EVENTS.callsPerSecond - performance.now()));
  }
  await Promise.all(calls);
  const seconds = (performance.now() - start) / 1000;
  await sleep(500);
  const ages = await page.evaluate<number[]>('ages');
  const frames = await page.evaluate<number[]>('frames');
  await page.context().close();
  return [
    { label: 'events that reach the page', value: ages.length / seconds, unit: '/s', goal: '>= 200 /s' },
    {
      label: 'age of an event when the page has it, p95',
      value: percentile(ages, 0.95),
      unit: 'ms',
      goal: '< 250 ms',
    },
    { label: 'frame while they come, p95', value: percentile(frames, 0.95), unit: 'ms' },
  ];
}

async function serve(dir: string) {
  const echo = { command: process.execPath, args: [ECHO, String(TOOLS - 1)] };
  const pml = await servePml({ data: join(dir, 'data'), config: { mcpServers: { echo } } });
  return { ...pml, loginUrl: String(pml.ready.login_url) };
}
