/** Drives every client against a gateway with reference servers: client x what it can do. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { servePml } from '../support/run-pml.ts';
import { install, type PartOptions, type PartReport, ROOT, tableOf, versionOf } from './scratch.ts';

const run = promisify(execFile);

/** Exact versions, each with what it needs besides itself. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/sdk': ['@modelcontextprotocol/sdk@1.32.2'],
  '@modelcontextprotocol/client': ['@modelcontextprotocol/client@2.4.0'],
  '@modelcontextprotocol/inspector': ['@modelcontextprotocol/inspector@2.12.0'],
  '@ai-sdk/mcp': ['@ai-sdk/mcp@2.0.96'],
  '@langchain/mcp-adapters': [
    '@langchain/mcp-adapters@1.1.4',
    '@langchain/core@1.2.13',
    '@langchain/langgraph@1.4.10',
  ],
  '@openai/agents': ['@openai/agents@0.20.0', 'zod@4.6.7'],
  '@anthropic-ai/claude-code': ['@anthropic-ai/claude-code@2.1.197'],
  '@openai/codex': ['@openai/codex@0.169.0'],
  '@google/gemini-cli': ['@google/gemini-cli@0.61.0'],
};

// biome-ignore format: a list of columns
const CHECKS = ['connect', 'list', 'search', 'call', 'code', 'image', 'large result', 'approval', 'progress', 'native lane'];

/** What a check says where the client, not the gateway, leaves nothing to try. */
const NOTHING_TO_TRY = ['asks for none'];

type Verdicts = Readonly<Record<string, true | string>>;

export async function tryClients({ only, folder }: PartOptions): Promise<PartReport> {
  const names = Object.keys(CLIENTS).filter((name) => only.length === 0 || only.includes(name));
  // What one needs besides itself may not fit another.
  for (const name of names) await install(homeOf(folder, name), CLIENTS[name]!);
  const found = await drive(names, folder);
  const cell = (verdict: true | string = 'not reached') => {
    if (verdict === true) return '✓';
    return NOTHING_TO_TRY.includes(verdict) ? verdict : '✗';
  };
  const text = tableOf(
    ['client', ...CHECKS],
    [...found].map(([name, verdicts]) => [
      `\`${name}\` ${versionOf(homeOf(folder, name), name)}`,
      ...CHECKS.map((check) => cell(verdicts[check])),
    ]),
  );
  const failed = [...found].flatMap(([name, verdicts]) =>
    CHECKS.filter((check) => cell(verdicts[check]) === '✗').map(
      (check) => `${name}, ${check}: ${verdicts[check] ?? 'not reached'}`,
    ),
  );
  return { text, failed };
}

function homeOf(folder: string, name: string): string {
  return join(folder, name.replace(/^@/, '').replace('/', '-'));
}

async function drive(names: readonly string[], folder: string): Promise<Map<string, Verdicts>> {
  for (const name of names)
    for (const file of ['drive.ts', 'agents.ts', 'stand-in.ts'])
      copyFileSync(join(import.meta.dirname, file), join(homeOf(folder, name), file));
  const lines = Array.from({ length: 6_000 }, (_, n) => `line ${n + 1}\n`);
  writeFileSync(join(folder, 'large.txt'), lines.join(''));

  const server = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [
      join(ROOT, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js'),
      ...args,
    ],
  });
  const mcpServers = {
    everything: server('everything'),
    filesystem: server('filesystem', folder),
    memory: { ...server('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  };
  const pml = { permissions: { ask: ['memory:delete_entities'], approval_wait_ms: 0 } };
  const data = mkdtempSync(join(tmpdir(), 'pml-clients-data-'));
  const serving = await servePml({ data, config: { mcpServers, pml } });
  const watch = await watchProgress(serving.url);
  try {
    const found = new Map<string, Verdicts>();
    const env = { ...process.env, PML_URL: watch.url, PML_KEY: serving.token, PML_FOLDER: folder };
    for (const name of names) {
      process.stderr.write(`${name} …\n`);
      const cwd = homeOf(folder, name);
      const program = run(process.execPath, ['drive.ts', name], { cwd, env, timeout: 300_000 });
      found.set(
        name,
        await program.then(
          ({ stdout }) => JSON.parse(stdout.trim().split('\n').at(-1)!),
          (error) => ({ connect: `failed: ${String(error).slice(0, 500)}` }),
        ),
      );
    }
    return found;
  } finally {
    watch.close();
    await serving.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Forwards everything, and reports under `/watched` how many calls asked for progress and how many notifications came. */
async function watchProgress(target: string): Promise<{ readonly url: string; close(): void }> {
  const count = { asked: 0, told: 0 };
  const { hostname, port, host } = new URL(target);
  const server = createServer((request, response) => {
    if (request.url === '/watched') {
      response.end(JSON.stringify(count));
      return;
    }
    const { method, url: path, headers } = request;
    const onward = httpRequest({ hostname, port, path, method, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        count.told += chunk.toString('latin1').split('notifications/progress').length - 1;
      });
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    let sent = '';
    request.on('data', (chunk: Buffer) => {
      sent += chunk.toString('latin1');
    });
    request.on('end', () => {
      if (sent.includes('"tools/call"') && /"progressToken"/.test(sent)) count.asked += 1;
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
