import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../../core/vocabulary/trace-event.ts';
import type { Approval, CallFilter, CallGroup, CallStore, StoredCall } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, isVisible, text } from './codec.ts';

const DEFAULTS = {
  /** Calls that one look goes through where no index knows the answer. */
  window: 25_000,
  /** The same where they lie far apart on disk: those of one tool, or failed ones. */
  scattered: 800,
  /** Traces of a session, or of runs that asked a person. */
  traces: 5_000,
  groups: 500,
};

type Condition = RawBuilder<SqlBool>;
type Row = Selectable<Database['trace_call']>;
/** A place in the order of calls. */
type Key = Pick<Row, 'executed_at' | 'trace' | 'place'>;

/** Calls in their order, as an index has them, and what is still to be asked of each. */
interface Source {
  readonly of:
    | { readonly kind: 'all' }
    | { readonly kind: 'tools'; readonly names: readonly string[] }
    | { readonly kind: 'traces'; readonly traces: readonly Owning[] };
  /** Served by the index. */
  readonly indexed: readonly Condition[];
  /** The index leads from page to page of the table, and not along it. */
  readonly isScattered?: boolean;
  readonly rest: readonly Condition[];
}

interface Owning {
  readonly seq: number;
  readonly executed_at: Date;
  readonly run_id: string;
}

const NEWEST_FIRST = sql`executed_at desc, trace desc, place desc`;

export function sqlCalls(
  db: Kysely<Database>,
  { window, scattered }: { readonly window: number; readonly scattered: number } = DEFAULTS,
): CallStore {
  /** By loose index scan: as many lookups as the server has tools, however often they were called. */
  async function toolsOf(server: string): Promise<string[]> {
    const { rows } = await sql<{ node: string }>`
      with recursive named (node) as (
        (select node from trace_call where ${isAt(server, sql`node`)} order by node limit 1)
        union all
        select (
          select later.node from trace_call later
          where later.node > named.node and ${isAt(server, sql`later.node`)} order by later.node limit 1
        ) from named where named.node is not null
      ) select node from named where node is not null`.execute(db);
    return rows.map(({ node }) => node);
  }

  async function tracesOf({ runId, sessionId, asked }: CallFilter): Promise<Owning[]> {
    let query = db
      .selectFrom('execution_trace')
      .select(['seq', 'executed_at', 'run_id'])
      .orderBy('seq', 'desc')
      .limit(DEFAULTS.traces);
    if (runId !== undefined) query = query.where('run_id', '=', text(runId));
    if (sessionId !== undefined) query = query.where('session_id', '=', text(sessionId));
    if (asked)
      query = query.where('run_id', 'in', (e) =>
        e.selectFrom('approval').select('run_id').orderBy('seq', 'desc').limit(DEFAULTS.traces),
      );
    return await query.execute();
  }

  async function sourceOf(filter: CallFilter): Promise<Source> {
    const { tool, server, success, errorType, runId, sessionId, asked } = filter;
    const isFailed = success === false || errorType !== undefined;
    const range = rangeOf(filter);
    const rest = restOf(filter);
    const ofTool = tool === undefined ? [] : [sql<SqlBool>`node = ${text(tool)}`];
    const ofServer = server === undefined ? [] : [isAt(server, sql`node`)];
    if (runId !== undefined || sessionId !== undefined || asked) {
      const outcome = isFailed ? [sql<SqlBool>`not success`] : [];
      return {
        of: { kind: 'traces', traces: await tracesOf(filter) },
        indexed: range,
        rest: [...rest, ...ofTool, ...ofServer, ...outcome],
      };
    }
    if (tool !== undefined) {
      const outcome = isFailed ? [sql<SqlBool>`not success`] : [];
      return {
        of: { kind: 'tools', names: [tool] },
        isScattered: true,
        indexed: range,
        rest: [...rest, ...ofServer, ...outcome],
      };
    }
    // Failures are few, so that their own index is the shortest way to those of a server, too.
    if (isFailed)
      return {
        of: { kind: 'all' },
        isScattered: true,
        indexed: [sql`not success`, ...range],
        rest: [...rest, ...ofServer],
      };
    // Where calls have to be looked at anyway, those of all servers lie side by side.
    if (server === undefined || rest.length > 0)
      return { of: { kind: 'all' }, indexed: range, rest: [...rest, ...ofServer] };
    return { of: { kind: 'tools', names: await toolsOf(server) }, indexed: range, rest };
  }

  async function page(source: Source, limit: number, after: Key | null): Promise<[Row[], Key | null]> {
    const isWindowed = source.rest.length > 0 && source.of.kind !== 'traces';
    const looks = source.isScattered ? Math.max(scattered, limit) : window;
    const each = isWindowed ? looks : limit;
    const bounded = { ...source, indexed: [...source.indexed, ...(after ? [isAfter(after)] : [])] };
    const { rows } = await sql<Row>`
      select * from (${readFrom(bounded, sql`*`, sql`limit ${each}`)}) as seen
      where ${all(source.rest)} order by ${NEWEST_FIRST} limit ${limit}`.execute(db);
    if (!isWindowed) return [rows, rows.length === limit ? rows.at(-1)! : null];
    // The last call that was looked at.
    if (rows.length === limit) return [rows, rows.at(-1)!];
    const { rows: ends } = await sql<Key>`
      ${readFrom(bounded, sql`executed_at, trace, place`, sql`offset ${each - 1} limit 1`)}`.execute(db);
    return [rows, ends[0] ?? null];
  }

  /** What a row of the list says beside the call itself. */
  async function withRuns(rows: readonly Row[]): Promise<StoredCall[]> {
    if (rows.length === 0) return [];
    const { rows: runs } = await sql<
      Owning & Pick<Selectable<Database['execution_trace']>, 'id' | 'session_id' | 'intent_text'>
    >`
      select found.* from unnest(
        ${rows.map(({ trace }) => trace)}::bigint[], ${rows.map((row) => row.executed_at.toISOString())}::timestamptz[]
      ) as wanted (seq, at), lateral (
        select seq, executed_at, run_id, id, session_id, intent_text from execution_trace
        where execution_trace.seq = wanted.seq and executed_at = wanted.at limit 1
      ) as found`.execute(db);
    const runOf = new Map(runs.map((run) => [run.seq, run]));
    const approvals = await db
      .selectFrom('approval')
      .select(['run_id', 'node', 'state', 'settled_by'])
      .where('run_id', 'in', [...new Set(runs.map(({ run_id }) => run_id))])
      .orderBy('seq')
      .execute();
    const approvalOf = new Map(approvals.map((one) => [`${one.run_id} ${one.node}`, one]));
    return rows.flatMap((row) => {
      const run = runOf.get(row.trace);
      return run ? [callOf(row, run, approvalOf.get(`${run.run_id} ${row.node}`))] : [];
    });
  }

  return {
    list: (filter, limit, after) =>
      guarded('Listing calls', async () => {
        const source = await sourceOf(filter);
        const [rows, next] = await page(source, limit, after === undefined ? null : keyFrom(after));
        return { calls: await withRuns(rows), next: next && keyText(next) };
      }),

    group: (filter, by) =>
      guarded('Counting calls', async () => {
        // All are counted over the same time, along the table.
        const { tool, server, success } = filter;
        const isNarrow = filter.runId !== undefined || filter.sessionId !== undefined || filter.asked;
        const single: Source = isNarrow
          ? await sourceOf(filter)
          : {
              of: { kind: 'all' },
              indexed: rangeOf(filter),
              rest: [
                ...restOf(filter),
                ...(tool === undefined ? [] : [sql<SqlBool>`node = ${text(tool)}`]),
                ...(server === undefined ? [] : [isAt(server, sql`node`)]),
                ...(success === false ? [sql<SqlBool>`not success`] : []),
              ],
            };
        const key =
          by === 'tool'
            ? sql`node`
            : sql`case when success then null else coalesce(error_type, 'UNKNOWN') end`;
        const { rows } = await sql<CallGroup & { newest: Date }>`
          select key, count(*)::float8 as calls, (count(*) filter (where not success))::float8 as failed,
            percentile_cont(0.5) within group (order by duration_ms::float8) as "medianMs",
            percentile_cont(0.95) within group (order by duration_ms::float8) as "p95Ms",
            coalesce(sum(coalesce(sent, 0) + coalesce(received, 0)), 0)::float8 as bytes,
            max(executed_at) as newest
          from (
            select ${key} as key, success, duration_ms, sent, received, executed_at
            from (${readFrom(single, sql`*`, sql`limit ${window}`)}) as seen where ${all(single.rest)}
          ) as matching
          group by key order by calls desc, key limit ${DEFAULTS.groups}`.execute(db);
        if (single.of.kind === 'traces') return { groups: rows, since: null };
        const { rows: ends } = await sql<{ executed_at: Date }>`
          ${readFrom(single, sql`executed_at`, sql`offset ${window} limit 1`)}`.execute(db);
        return { groups: rows, since: ends[0]?.executed_at ?? null };
      }),
  };
}

/** The calls of a source, newest first within each stream, cut as told. */
function readFrom(
  { of, indexed }: Source,
  columns: RawBuilder<unknown>,
  cut: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const read = (where: readonly Condition[]) =>
    sql`select ${columns} from trace_call where ${all(where)} order by ${NEWEST_FIRST} ${cut}`;
  if (of.kind === 'all') return read(indexed);
  if (of.kind === 'tools')
    return sql`select found.* from unnest(${of.names.map(text)}::text[]) as named (name),
      lateral (${read([sql`node = named.name`, ...indexed])}) as found`;
  const { traces } = of;
  // A trace has few calls: they are not cut.
  return sql`select found.* from unnest(
      ${traces.map(({ seq }) => seq)}::bigint[], ${traces.map((one) => one.executed_at.toISOString())}::timestamptz[]
    ) as owning (seq, at),
    lateral (select ${columns} from trace_call
      where ${all([sql`executed_at = owning.at and trace = owning.seq`, ...indexed])}) as found`;
}

function rangeOf({ since, until }: CallFilter): Condition[] {
  return [
    ...(since ? [sql<SqlBool>`executed_at >= ${since}`] : []),
    ...(until ? [sql<SqlBool>`executed_at < ${until}`] : []),
  ];
}

function restOf({
  success,
  errorType,
  text: part,
  owner,
  asked,
  minMs,
  minBytes,
  visibleTo,
}: CallFilter): Condition[] {
  return [
    ...(success === true ? [sql<SqlBool>`success`] : []),
    ...(errorType === undefined ? [] : [sql<SqlBool>`error_type = ${errorType}`]),
    ...(part === undefined ? [] : [sql<SqlBool>`strpos(lower(error), lower(${text(part)})) > 0`]),
    ...(owner === undefined ? [] : [sql<SqlBool>`owner = ${text(owner)}`]),
    ...(minMs === undefined ? [] : [sql<SqlBool>`duration_ms >= ${minMs}::float8`]),
    ...(minBytes === undefined
      ? []
      : [sql<SqlBool>`coalesce(sent, 0) + coalesce(received, 0) >= ${minBytes}::float8`]),
    ...(asked
      ? [
          sql<SqlBool>`exists (
            select from approval join execution_trace on execution_trace.run_id = approval.run_id
            where execution_trace.seq = seen.trace and execution_trace.executed_at = seen.executed_at
              and approval.node = seen.node)`,
        ]
      : []),
    ...(visibleTo === undefined ? [] : [isVisible(visibleTo)]),
  ];
}

/** Its tools are the range from `name:` to the character after the colon. */
function isAt(server: string, node: RawBuilder<unknown>): Condition {
  return sql`(${node} >= ${text(`${server}:`)}::text and ${node} < ${text(`${server};`)}::text)`;
}

function isAfter({ executed_at, trace, place }: Key): Condition {
  return sql`(executed_at, trace, place) < (${executed_at}, ${trace}, ${place})`;
}

function all(conditions: readonly Condition[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

function keyText({ executed_at, trace, place }: Key): string {
  return `${executed_at.getTime()}.${trace}.${place}`;
}

function keyFrom(cursor: string): Key {
  const [at = NaN, trace = NaN, place = NaN] = cursor.split('.').map(Number);
  const executed_at = new Date(at);
  if (Number.isNaN(executed_at.getTime()) || !Number.isSafeInteger(trace) || !Number.isInteger(place))
    throw new PmlError('invalid_argument', `Unknown place in the list of calls: ${cursor}`, {
      hint: 'Pass the "next" of the previous page.',
    });
  return { executed_at, trace, place };
}

function callOf(
  row: Row,
  run: {
    readonly id: string;
    readonly run_id: string;
    readonly session_id: string | null;
    readonly intent_text: string | null;
  },
  approval: { readonly state: string; readonly settled_by: string | null } | undefined,
): StoredCall {
  return {
    id: row.call_id,
    tool: row.node,
    traceId: run.id,
    runId: run.run_id,
    sessionId: run.session_id,
    intentText: run.intent_text,
    owner: row.owner,
    startedAt: new Date(row.executed_at.getTime() + row.began_ms),
    durationMs: row.duration_ms,
    success: row.success,
    errorType: row.error_type as ErrorType | null,
    error: row.error,
    sent: row.sent,
    received: row.received,
    approval: approval
      ? { state: approval.state as Approval['state'], settledBy: approval.settled_by }
      : null,
  };
}
