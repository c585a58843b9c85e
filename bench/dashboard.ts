/** How soon the dashboard shows something, whether it keeps up with events, and how smoothly a large graph moves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { ensureBuiltPage } from '../test/support/built-page.ts';
import { launchBrowser, WIDE } from '../test/support/launch-browser.ts';

const PML = fileURLToPath(new URL('../bin/pml.js', import.meta.url));
const ECHO = fileURLToPath(new URL('./support/echo-server.ts', import.meta.url));
const OPENINGS = 7;
const EVENTS = { callsPerSecond: 70, seconds: 8 };
const GRAPH = { nodes: 1_000, moves: 120 };

/** Notes when the figures are first there. */
const WATCH_FIGURES = `new MutationObserver((_, observer) => {
  if (document.querySelector('.figure-value')?.textContent?.match(/\\d/)) {
    globalThis.shownAt = performance.now();
    observer.disconnect();
  }
}).observe(document, { subtree: true, childList: true, characterData: true })`;

/** Notes how old each event is when the page gets it, and how long frames take. */
const WATCH_EVENTS = `(() => {
  globalThis.ages = [];
  const Plain = EventSource;
  globalThis.EventSource = class extends Plain {
    addEventListener(type, listener) {
      super.addEventListener(type, (message) => {
        const { at } = JSON.parse(message.data);
        if (at) ages.push(Date.now() - Date.parse(at));
        listener(message);
      });
    }
  };
})()`;

const WATCH_FRAMES = `(() => {
  globalThis.frames = [];
  let last = performance.now();
  const tick = (now) => {
    frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()`;

export async function bench() {
  await ensureBuiltPage();
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const gateway = await serve(dir);
  const browser = await launchBrowser();
  try {
    const cookies = await signIn(browser, gateway.loginUrl);
    const open = async (path: string, ...scripts: string[]): Promise<Page> => {
      const context = await browser.newContext({ viewport: WIDE });
      await context.addCookies(cookies);
      const page = await context.newPage();
      for (const content of scripts) await page.addInitScript({ content });
      await page.goto(`${gateway.url}${path}`);
      return page;
    };
    return {
      name: 'dashboard',
      rows: [
        ...(await firstPaint(open)),
        ...(await events(open, gateway.url, join(dir, 'data'))),
        ...(await largeGraph(open)),
      ],
    };
  } finally {
    await browser.close();
    await gateway.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Open = (path: string, ...scripts: string[]) => Promise<Page>;

/** Each time in a browser that knows nothing yet. */
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

/** Dragged to and fro with everything in view. */
async function largeGraph(open: Open) {
  const start = performance.now();
  const page = await open('/graph', WATCH_FRAMES);
  const canvas = page.getByLabel(/^Graph of/);
  await canvas.waitFor({ timeout: 120_000 });
  const drawn = performance.now() - start;
  const box = (await canvas.boundingBox())!;
  const [x, y] = [box.x + box.width * 0.7, box.y + box.height * 0.9];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate('frames.length = 0');
  for (let i = 0; i < GRAPH.moves; i++) {
    await page.mouse.move(x + 120 * Math.sin(i / 10), y - 60 * Math.sin(i / 7));
  }
  const frames = await page.evaluate<number[]>('frames');
  await page.mouse.up();
  await page.context().close();
  return [
    { label: `${GRAPH.nodes} nodes laid out and drawn`, value: drawn, unit: 'ms' },
    {
      label: `frame of ${GRAPH.nodes} nodes that are dragged, p50`,
      value: percentile(frames, 0.5),
      unit: 'ms',
    },
    {
      label: `frame of ${GRAPH.nodes} nodes that are dragged, p95`,
      value: percentile(frames, 0.95),
      unit: 'ms',
      goal: '< 50 ms',
    },
  ];
}

async function signIn(
  browser: Browser,
  loginUrl: string,
): Promise<Awaited<ReturnType<BrowserContext['cookies']>>> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(loginUrl);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

async function serve(dir: string) {
  const config = join(dir, 'pml.json');
  const echo = { command: process.execPath, args: [ECHO, String(GRAPH.nodes - 1)] };
  await writeFile(config, JSON.stringify({ mcpServers: { echo } }));
  const args = [PML, 'serve', '--port', '0', '--data', join(dir, 'data'), '--config', config, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, login_url: loginUrl } = JSON.parse(line) as { url: string; login_url: string };
  return {
    url,
    loginUrl,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
