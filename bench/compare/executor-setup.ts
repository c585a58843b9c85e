import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Setting } from './contender.ts';

const run = promisify(execFile);

/** Registers stdio servers through its command line, granting what it requests on the way. */
export async function addToExecutor(
  command: string,
  env: Readonly<Record<string, string>>,
  servers: Setting['servers'],
): Promise<void> {
  const call = async (path: readonly string[], input: object): Promise<void> => {
    const { stdout, stderr } = await answered(
      command,
      ['call', 'executor', ...path, JSON.stringify(input)],
      env,
    );
    const [, id, url] = /execution-id (\S+) --base-url (\S+)/.exec(stdout + stderr) ?? [];
    if (id === undefined || url === undefined) return;
    const grant = [
      'resume',
      '--execution-id',
      id,
      '--base-url',
      url,
      '--action',
      'accept',
      '--content',
      '{}',
    ];
    await answered(command, grant, env);
  };
  for (const [slug, [program, ...args]] of Object.entries(servers)) {
    await call(['mcp', 'addServer'], { transport: 'stdio', name: slug, slug, command: program, args });
    // Even a server without authentication needs a credential; this one is never read.
    const from = { provider: 'file', id: 'none' };
    await call(['coreTools', 'connections', 'create'], {
      ...{ owner: 'user', name: 'main', integration: slug, template: 'none', from },
    });
  }
  await answered(command, ['daemon', 'stop'], env);
}

/** It ends with an error when it waits for a person; its output then says how to continue. */
async function answered(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ stdout: string; stderr: string }> {
  try {
    return await run(command, args, { env, timeout: 120_000 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { stdout, stderr };
  }
}
