import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

export interface HostileNeighbour {
  readonly port: number;
  /** Cookies that browsers brought along. */
  readonly cookies: readonly string[];
}

/** Another program on this machine that serves a page; it is gone when the test ends. */
export async function startHostileNeighbour(): Promise<HostileNeighbour> {
  const cookies: string[] = [];
  const server = createServer((request, reply) => {
    if (request.headers.cookie !== undefined) cookies.push(request.headers.cookie);
    reply.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, cookies };
}

export interface Attack {
  /** What each way of asking got, `nothing` if it got nothing. */
  readonly got: Readonly<Record<string, unknown>>;
  /** How the gateway answered, one line for each answer. */
  readonly answers: readonly string[];
}

/** Whatever a page can do to reach what is at `url`, in a browser that is logged in there. */
export async function attackFrom(attacker: Page, url: string): Promise<Attack> {
  const answers: string[] = [];
  attacker.on('response', (reply) => {
    const { origin, pathname } = new URL(reply.url());
    if (origin === url) answers.push(`${reply.request().method()} ${pathname} ${reply.status()}`);
  });
  return { got: await attacker.evaluate(askInEveryWay, url), answers };
}

/** What a page gets from a window that it opened at `url`. */
export async function attackThroughWindow(attacker: Page, url: string): Promise<Attack['got']> {
  const opening = attacker.context().waitForEvent('page');
  const handle = await attacker.evaluateHandle((address) => {
    const heard: unknown[] = [];
    addEventListener('message', ({ data }) => heard.push(data));
    return { dashboard: open(address)!, heard };
  }, url);
  const popup = await opening;
  // It is the user's own browser: the window is logged in.
  await popup.getByText('Live', { exact: true }).waitFor();
  const got = await handle.evaluate(async ({ dashboard, heard }) => {
    const read = (get: () => unknown) => {
      try {
        return get() ?? 'nothing';
      } catch {
        return 'nothing';
      }
    };
    for (const message of ['session', { type: 'session' }]) read(() => dashboard.postMessage(message, '*'));
    const found = {
      document: read(() => dashboard.document?.body.textContent),
      storage: read(() => dashboard.localStorage?.getItem('pml-session')),
      address: read(() => dashboard.location?.href),
    };
    // Time in which the window could have answered.
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { ...found, answered: heard.length === 0 ? 'nothing' : heard };
  });
  const opener = await popup.evaluate(() => (window.opener === null ? 'nothing' : 'a window'));
  return { ...got, opener };
}

/** Runs in the page, so it can use nothing from outside. */
async function askInEveryWay(url: string): Promise<Record<string, unknown>> {
  const got: Record<string, unknown> = {};
  const attempt = async (name: string, work: () => Promise<unknown>) => {
    got[name] = await work().catch(() => 'nothing');
  };
  /** An opaque answer has neither status nor body. */
  const reading = async (path: string, how: RequestInit) => {
    const reply = await fetch(`${url}${path}`, { credentials: 'include', ...how });
    return reply.type === 'opaque' && (await reply.text()) === '' ? 'nothing' : reply.status;
  };
  const first = (target: EventTarget, good: string, bad: string) =>
    new Promise((resolve) => {
      target.addEventListener(good, () => resolve(good));
      target.addEventListener(bad, () => resolve('nothing'));
    });
  const element = async (name: string, attributes: Record<string, string>) => {
    const made = Object.assign(document.createElement(name), attributes);
    const settled = first(made, 'load', 'error');
    document.body.append(made);
    return await settled;
  };
  const body = JSON.stringify({ code: 'return 1', intent: 'of a page elsewhere' });

  const tries: Promise<void>[] = [];
  for (const path of ['/api/me', '/api/audit', '/api/traces', '/api/events', '/bridge', '/mcp', '/metrics']) {
    for (const mode of ['cors', 'no-cors'] as const) {
      tries.push(attempt(`fetch ${mode} ${path}`, () => reading(path, { mode })));
    }
    tries.push(attempt(`script ${path}`, () => element('script', { src: `${url}${path}` })));
  }
  for (const path of ['/api/execute', '/mcp', '/bridge', '/login']) {
    for (const mode of ['cors', 'no-cors'] as const) {
      tries.push(attempt(`post ${mode} ${path}`, () => reading(path, { mode, method: 'POST', body })));
    }
    const headers = { 'content-type': 'application/json', authorization: 'Bearer guess' };
    tries.push(attempt(`json ${path}`, () => reading(path, { method: 'POST', headers, body })));
  }
  tries.push(
    attempt('events', async () => {
      const events = new EventSource(`${url}/api/events`, { withCredentials: true });
      return await first(events, 'open', 'error').finally(() => events.close());
    }),
    ...['/', '/mcp', '/api/events'].map((path) =>
      attempt(`socket ${path}`, () => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`);
        return first(socket, 'open', 'error').finally(() => socket.close());
      }),
    ),
    attempt('picture', () => element('img', { src: `${url}/api/me` })),
    attempt('style', () => element('link', { rel: 'stylesheet', href: `${url}/api/me` })),
    attempt('the page’s own script', () => element('script', { src: `${url}/theme.js` })),
    attempt('module', () => element('script', { type: 'module', src: `${url}/theme.js` })),
    attempt('service worker', () => navigator.serviceWorker.register(`${url}/theme.js`)),
    attempt('worker', async () => first(new SharedWorker(`${url}/theme.js`), 'load', 'error')),
    attempt('frame', async () => {
      const frame = document.createElement('iframe');
      frame.src = `${url}/`;
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
      document.body.append(frame);
      await loaded;
      return frame.contentDocument?.body.textContent ?? frame.contentWindow!.localStorage.length;
    }),
    attempt('form', async () => {
      const target = document.createElement('iframe');
      target.name = 'answer';
      const form = document.createElement('form');
      Object.assign(form, { action: `${url}/api/execute`, method: 'post', target: 'answer' });
      form.enctype = 'text/plain';
      const field = document.createElement('input');
      Object.assign(field, { name: body.slice(0, -1).concat(',"x":"'), value: '"}' });
      form.append(field);
      document.body.append(target, form);
      const loaded = new Promise((resolve) => target.addEventListener('load', resolve));
      form.submit();
      await loaded;
      return target.contentDocument?.body.textContent ?? target.contentWindow!.localStorage.length;
    }),
  );
  await Promise.all(tries);
  const kept = [
    document.cookie,
    ...Object.keys(localStorage),
    ...Object.keys(sessionStorage),
    ...(await indexedDB.databases()),
    ...(await caches.keys()),
    ...(await navigator.serviceWorker.getRegistrations()),
  ];
  got.kept = kept.join('') === '' ? 'nothing' : kept;
  return got;
}
