import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureDataDir, readToken } from '../../src/adapters/store/data-dir-lock.ts';
import { openPgliteStore, pgliteDialect, startPglite } from '../../src/adapters/store/open-pglite-store.ts';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';

/** Every path below `dir` with its size: enough to see that nothing was deleted or written. */
/** Files with their sizes; what a folder takes depends on where it is. */
async function listing(dir: string): Promise<string[]> {
  const names = (await readdir(dir, { recursive: true })).sort();
  const told = async (name: string) => {
    const found = await stat(join(dir, name));
    return found.isFile() ? `${name} ${found.size}` : name;
  };
  return await Promise.all(names.map(told));
}

describe('a data dir that cannot be used is explained, and nothing in it is deleted', () => {
  let good: Awaited<ReturnType<typeof makeTemporaryDir>>;
  beforeAll(async () => {
    good = await makeTemporaryDir();
    await (await openPgliteStore(good.path)).close();
  });
  afterAll(() => good.remove());

  const cases: { what: string; harm: (pg: string) => Promise<void>; code: string; says: RegExp }[] = [
    {
      what: 'half-written: PG_VERSION missing',
      harm: (pg) => rm(join(pg, 'PG_VERSION')),
      code: 'data_dir_damaged',
      says: /PG_VERSION is missing/,
    },
    {
      what: 'half-written: control file and WAL missing',
      harm: async (pg) => {
        await rm(join(pg, 'global/pg_control'));
        await rm(join(pg, 'pg_wal'), { recursive: true });
      },
      code: 'data_dir_damaged',
      says: /pg_control, pg_wal are missing/,
    },
    {
      what: 'half-written: control file cut short',
      harm: (pg) => truncate(join(pg, 'global/pg_control'), 10),
      code: 'data_dir_damaged',
      says: /cannot be opened/,
    },
    {
      what: 'of another PostgreSQL, newer',
      harm: (pg) => writeFile(join(pg, 'PG_VERSION'), '99\n'),
      code: 'data_dir_newer',
      says: /PostgreSQL 99/,
    },
    {
      what: 'of another PostgreSQL, older',
      harm: (pg) => writeFile(join(pg, 'PG_VERSION'), '11\n'),
      code: 'data_dir_damaged',
      says: /PG_VERSION is not 18/,
    },
  ];
  for (const { what, harm, code, says } of cases) {
    test(`[STORE-19] ${what}`, async () => {
      const dir = await temporaryDir();
      await cp(good.path, dir, { recursive: true });
      await harm(join(dir, 'pg'));
      const before = await listing(dir);
      const opening = openPgliteStore(dir);
      await expect(opening).rejects.toMatchObject({ code, hint: expect.stringMatching(/Nothing was/) });
      await expect(opening).rejects.toThrow(says);
      expect(await listing(dir)).toEqual(expect.arrayContaining(before));
    });
  }

  test('[STORE-19] written by a newer PML', async () => {
    const dir = await temporaryDir();
    await cp(good.path, dir, { recursive: true });
    const db = new Kysely<unknown>({ dialect: pgliteDialect(await startPglite(join(dir, 'pg'))) });
    await sql`insert into kysely_migration values ('9999-from-the-future', '2030-01-01')`.execute(db);
    await db.destroy();
    const opening = openPgliteStore(dir);
    await expect(opening).rejects.toMatchObject({ code: 'data_dir_newer' });
    await expect(opening).rejects.toThrow(/9999-from-the-future/);
  });
});

test('[STORE-20] a folder that cannot be created or read is named', async () => {
  const dir = await temporaryDir();
  await writeFile(join(dir, 'file'), 'not a folder');
  await expect(ensureDataDir(join(dir, 'file', 'data'))).rejects.toMatchObject({
    code: 'data_dir_unreadable',
    message: expect.stringContaining(join(dir, 'file')),
  });
  await expect(openPgliteStore(join(dir, 'file'))).rejects.toMatchObject({ code: 'data_dir_unreadable' });
});

test('[STORE-21] an interrupted unpacking is repeated from the start', async () => {
  const dir = await temporaryDir();
  await mkdir(join(dir, 'pg.unpacking', 'base'), { recursive: true });
  await writeFile(join(dir, 'pg.unpacking', 'PG_VERSION'), '1');
  const store = await openPgliteStore(dir);
  expect(await store.traces.count()).toBe(0);
  await store.close();
  expect(await readdir(dir)).toEqual(['pg']);
});

test('[STORE-22] the token is created once, and only its owner may read it', async () => {
  const dir = await temporaryDir();
  const tokens = await Promise.all(Array.from({ length: 8 }, () => readToken(dir)));
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]?.length).toBeGreaterThanOrEqual(40);
  expect((await stat(join(dir, 'token'))).mode & 0o777).toBe(0o600);
  expect((await readFile(join(dir, 'token'), 'utf8')).trim()).toBe(tokens[0]);
});
