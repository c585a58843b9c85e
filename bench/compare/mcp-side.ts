import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Transport } from '@modelcontextprotocol/client';
import { MESSAGE } from './contender.ts';

/** All peers speak the older era, and so does PML. */
export async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'compare', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(transport);
  return client;
}

/** Retries until a process that starts listening late answers. */
export async function connectWhenUp(
  transport: () => Transport | Promise<Transport>,
  child: ChildProcess,
): Promise<Client> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it answered`);
    try {
      return await connect(await transport());
    } catch {
      await sleep(10);
    }
  }
}

export async function listBytes(client: Client): Promise<number> {
  return Buffer.byteLength(JSON.stringify(await client.listTools()));
}

/** Waits until this many tools are listed: some gateways answer before their servers do. */
export async function untilListed(client: Client, tools: number): Promise<void> {
  while ((await client.listTools()).tools.length < tools) await sleep(10);
}

export async function callEcho(client: Client, name: string): Promise<void> {
  const { content } = await client.callTool({ name, arguments: { message: MESSAGE } });
  if (JSON.stringify(content) !== JSON.stringify([{ type: 'text', text: MESSAGE }])) {
    throw new Error(`${name} answered ${JSON.stringify(content)}`);
  }
}

export function launch(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const wasQuick = await Promise.race([ended.then(() => true), sleep(5_000, false)]);
  if (!wasQuick) child.kill('SIGKILL');
  await ended;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
