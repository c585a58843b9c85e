import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import axeCore from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { ensureBuiltPage } from './built-page.ts';
import { launchBrowser, newContext, type SignedIn, signIn, WIDE } from './launch-browser.ts';
import { referenceServers } from './mcp-reference-servers.ts';
import { launchPml, type RunningPml } from './run-pml.ts';
import { makeTemporaryDir } from './temporary-dir.ts';

export interface DashboardOptions {
  /** In addition to, or instead of, the four reference servers. */
  readonly servers?: (folder: string) => Readonly<Record<string, object>>;
  /** The `pml` section of the configuration. */
  readonly pml?: Readonly<Record<string, unknown>>;
  /** By default any free one. */
  readonly port?: number;
}

export interface PageOptions {
  readonly size?: { readonly width: number; readonly height: number };
  readonly theme?: 'light' | 'dark';
  readonly signedIn?: boolean;
  /** Console messages that are expected, such as failed requests of a lost connection. */
  readonly expected?: RegExp;
}

export interface Dashboard {
  readonly url: string;
  /** The data dir, for commands. */
  readonly data: string;
  /** The folder that the servers read and write. */
  readonly folder: string;
  /** Opens a new tab at this path. A script error, a dialog or a content policy violation fails the test. */
  open(path?: string, options?: PageOptions): Promise<Page>;
  /** Calls the API with the token: GET without a body, otherwise POST. */
  api<T = Record<string, unknown>>(path: string, body?: unknown): Promise<T>;
  /** The structured content that an agent gets from a tool of `/mcp`. */
  mcp(tool: string, args: Readonly<Record<string, unknown>>): Promise<unknown>;
  stop(): Promise<void>;
  /** Starts the gateway again, on the same port and data. */
  start(): Promise<void>;
}

/** A real gateway with real servers and a real browser, shared by the tests of a file. */
export function useDashboard(options: DashboardOptions = {}): Dashboard {
  let browser: Browser;
  let gateway: RunningPml;
  let dir: { path: string; remove(): Promise<void> };
  let signedInState: SignedIn;
  const folder = () => join(dir.path, 'files');
  const url = () => String(gateway.ready.url);
  const data = () => join(dir.path, 'data');

  const token = async () => (await readFile(join(data(), 'token'), 'utf8')).trim();

  const start = async (port = String(options.port ?? 0)) => {
    gateway = await launchPml(
      ['serve', '--port', port, '--data', data(), '--config', join(dir.path, 'pml.json')],
      { cwd: dir.path },
    );
  };
  const stop = async () => {
    gateway.child.kill('SIGTERM');
    await gateway.exited;
  };

  beforeAll(async () => {
    await ensureBuiltPage();
    dir = await makeTemporaryDir();
    await mkdir(folder());
    const mcpServers = (options.servers ?? referenceServers)(folder());
    await writeFile(join(dir.path, 'pml.json'), JSON.stringify({ mcpServers, pml: options.pml ?? {} }));
    [browser] = await Promise.all([launchBrowser(), start()]);
    signedInState = await signIn(browser, String(gateway.ready.login_url));
  });
  afterAll(async () => {
    await browser?.close();
    if (gateway) await stop();
    await dir?.remove();
  });

  return {
    get url() {
      return url();
    },
    get data() {
      return data();
    },
    get folder() {
      return folder();
    },
    stop,
    start: () => start(new URL(url()).port),
    async open(path = '/', { size = WIDE, theme = 'dark', signedIn = true, expected } = {}) {
      const context = await newContext(browser, {
        viewport: size,
        colorScheme: theme,
        ...(signedIn && { storageState: signedInState }),
      });
      const page = await context.newPage();
      const faults = watchForFaults(page, expected);
      onTestFinished(async () => {
        await context.close();
        expect(faults).toEqual([]);
      });
      await page.goto(`${url()}${path}`);
      return page;
    },
    async mcp(tool, args) {
      const headers = { authorization: `Bearer ${await token()}` };
      const client = new Client({ name: 'agent', version: '1' });
      const address = new URL(`${url()}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
      const { structuredContent } = await client.callTool({ name: tool, arguments: { ...args } });
      await client.close();
      return structuredContent;
    },
    async api<T>(path: string, body?: unknown) {
      const reply = await fetch(`${url()}/api${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await reply.json()) as T;
    },
  };
}

/** Collects events that must not happen on any page. */
function watchForFaults(page: Page, expected: RegExp | undefined): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected?.test(message.text()))
      faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  return faults;
}

/** Accessibility by WCAG 2.2 AA and axe's own rules: one line per serious or critical violation. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeCore.source);
  // Halfway through a transition, colours are those of neither state.
  await page.evaluate(`Promise.allSettled(
    document.getAnimations()
      .filter(({ effect }) => effect?.getTiming().iterations !== Infinity)
      .map(({ finished }) => finished.then(() => null)))`);
  return await page.evaluate(async () => {
    interface Violation {
      id: string;
      impact: string | null;
      nodes: { html: string; failureSummary: string }[];
    }
    const { run } = (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe;
    const { violations } = await run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
  });
}
