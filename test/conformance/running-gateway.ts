import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../bin/pml.js', import.meta.url));

export interface RunningGateway {
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

/** `pml serve` as a user starts it, on a free port, with its data in a folder of `dir`. */
export async function startGateway(
  mcpServers: Readonly<Record<string, object>>,
  dir: string,
): Promise<RunningGateway> {
  const data = join(dir, 'data');
  mkdirSync(data);
  const config = join(data, 'pml.json');
  writeFileSync(config, JSON.stringify({ mcpServers }));
  const args = [LAUNCHER, 'serve', '--port', '0', '--data', data, '--config', config, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const ended = once(child, 'close');
  const announced = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    announced,
    ended.then(([code]) => Promise.reject(new Error(`pml serve ended with ${code}: ${complaints}`))),
  ]);
  return {
    url: JSON.parse(line).url,
    token: readFileSync(join(data, 'token'), 'utf8').trim(),
    close: async () => {
      child.kill();
      await ended;
    },
  };
}
