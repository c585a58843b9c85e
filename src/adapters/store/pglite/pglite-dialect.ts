import {
  CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { PgliteClient } from './pglite-client.ts';

/**
 * kysely's own PGlite driver hands out its one connection without waiting, so a query made beside
 * an open transaction lands inside it and is lost when that rolls back. Here a connection is
 * exclusive: while one holds it, others wait.
 */
export function pgliteDialect(client: PgliteClient): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PgliteDriver(client),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>): DatabaseIntrospector => new PostgresIntrospector(db),
  };
}

class PgliteDriver implements Driver {
  readonly #client: PgliteClient;
  readonly #connection: DatabaseConnection;
  #lastInLine: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(client: PgliteClient) {
    this.#client = client;
    this.#connection = new PgliteConnection(client);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastInLine;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastInLine = promise;
    await before;
    this.#release = resolve;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    await this.#client.close();
  }
}

class PgliteConnection implements DatabaseConnection {
  readonly #client: PgliteClient;

  constructor(client: PgliteClient) {
    this.#client = client;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.#client.query(query.sql, query.parameters);
    return { rows: rows as R[], numAffectedRows: BigInt(affectedRows) };
  }

  streamQuery(): AsyncIterableIterator<QueryResult<never>> {
    throw new Error('PGlite answers whole results; page with limit instead');
  }
}
