import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fileTokenStore } from '../../src/adapters/upstream/file-token-store.ts';
import { McpUpstream, type McpUpstreamOptions } from '../../src/adapters/upstream/mcp-upstream.ts';
import { startTimeOf } from '../../src/adapters/upstream/process-tree.ts';
import type { ServerAuth, ServerSettings } from '../../src/engine/ports.ts';

const STDIO_SERVER = join(import.meta.dirname, '../fixtures/servers/stdio-server.ts');

const COMMON = {
  disabled: false,
  tools: { include: [], exclude: [] },
  timeoutMs: 20_000,
  concurrency: 1_000,
} as const;

type Common = Partial<Pick<ServerSettings, 'disabled' | 'timeoutMs' | 'concurrency'>> & {
  idleStopMs?: number;
};

/** The workbench as a process with the given manner. */
export function stdioServer(name: string, manner = 'both', common: Common = {}): ServerSettings {
  return commandServer(name, [STDIO_SERVER, manner], common);
}

export function commandServer(name: string, args: readonly string[], common: Common = {}): ServerSettings {
  const how = { transport: 'stdio', command: process.execPath, args, env: {}, cwd: null } as const;
  return { ...COMMON, ...common, ...how, name };
}

export function httpServer(
  name: string,
  url: string,
  more: Common & { transport?: 'http' | 'sse'; headers?: Record<string, string>; auth?: ServerAuth } = {},
): ServerSettings {
  return { ...COMMON, transport: 'http', headers: {}, ...more, name, url };
}

export interface OpenUpstream {
  readonly upstream: McpUpstream;
  readonly dataDir: string;
  readonly logged: string[];
  dispose(): Promise<void>;
}

/** The real adapter, with a data dir of its own and short patience. */
export function openUpstream(
  servers: readonly ServerSettings[],
  options: Partial<McpUpstreamOptions> = {},
): OpenUpstream {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'pml-upstream-'));
  const logged: string[] = [];
  const upstream = new McpUpstream({
    servers,
    dataDir,
    tokens: fileTokenStore(dataDir),
    clock: { now: () => new Date(), monotonic: () => performance.now() },
    random: () => 0,
    logger: { log: (level, message) => logged.push(`${level}: ${message}`) },
    info: { name: 'pml-test', version: '0.0.0' },
    backoff: { baseMs: 40, maxMs: 400 },
    graceMs: 500,
    ...options,
  });
  const dispose = async () => {
    await upstream.close();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
  };
  return { upstream, dataDir, logged, dispose };
}

/** Polls with patience: machines that run tests are busy. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { interval: 5 });
}

/** Whether the process lives; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return startTimeOf(pid) !== null;
}
