import { type Kysely, sql } from 'kysely';
import type { Database } from '../src/adapters/store/database.ts';
import { createSqlStore } from '../src/adapters/store/sql-store.ts';
import { deriveTrace } from '../src/core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../src/core/vocabulary/execution-trace.ts';
import { toolId } from '../src/core/vocabulary/ids.ts';
import { ERROR_TYPES, type TraceEvent } from '../src/core/vocabulary/trace-event.ts';
import { ensureBuiltPage } from '../test/support/built-page.ts';
import { launchBrowser, signIn, WIDE } from '../test/support/launch-browser.ts';
import { servePml } from '../test/support/run-pml.ts';
import { scratchPglite } from './simulate/scratch-store.ts';
import { percentile } from './support/percentile.ts';

/** Calls in the store; `--size` asks for fewer. A run makes ten. */
const CALLS = Number(process.env.PML_BENCH_SIZE ?? 1_000_000);
const CALLS_PER_RUN = 10;
/** Runs that differ; the others are the same with other ids and times. */
const DISTINCT = 500;
/** Runs that one statement copies. */
const COPIED = 5_000;
const APART_MS = 20_000;
/** In one of so many runs, a person was asked. */
const ASKED_EACH = 20;
const ROUNDS = 7;
const BEGAN = Date.UTC(2026, 5, 1);

/** As the page asks for them: those that an index serves, and those that have to look at calls. */
const VIEWS: Readonly<Record<string, string>> = {
  'all calls': '/calls?limit=50',
  'one tool': '/calls?limit=50&tool=files:tool_3',
  'one server': '/calls?limit=50&server=mail',
  'failed calls': '/calls?limit=50&status=error',
  'one type of error': '/calls?limit=50&error=NETWORK',
  'one user': '/calls?limit=50&user=user-7',
  'a user without calls': '/calls?limit=50&user=nobody',
  'the slowest': '/calls?limit=50&min_ms=900',
  'large answers of a server': '/calls?limit=50&server=web&min_bytes=3000',
  'words of an error': '/calls?limit=50&q=own+way:+7',
  'failed calls of a tool': '/calls?limit=50&status=error&tool=mail:tool_9',
  'failed calls of a server': '/calls?limit=50&status=error&server=web',
  'a server that is hardly used': '/calls?limit=50&server=rare',
  'one session': '/calls?limit=50&session=session-3',
  'the first five days': `/calls?limit=50&until=${new Date(BEGAN + 5 * 24 * 3_600_000).toISOString()}`,
  'approved calls': '/calls?limit=50&asked=true',
  'grouped by tool': '/calls/groups?by=tool',
  'grouped by error': '/calls/groups?by=error',
  'all runs': '/traces?limit=50',
  'failed runs': '/traces?limit=50&status=error',
  'runs of a tool': '/traces?limit=50&tool=files:tool_3',
  'runs by words': '/traces?limit=50&q=kind+7',
  'runs by words that none has': '/traces?limit=50&q=nowhere',
};

/** Pages, and what of them shows data of the store. */
const PAGES: Readonly<Record<string, string>> = {
  '/calls': '.calls-tool',
  '/runs': 'main tbody tr',
  '/': '.figure-value',
};

/** Records when the first of it appears. */
const watchFor = (shown: string) => `new MutationObserver((_, observer) => {
  if (!/\\w/.test(document.querySelector('${shown}')?.textContent ?? '')) return;
  globalThis.shownAt = performance.now();
  observer.disconnect();
}).observe(document, { subtree: true, childList: true, characterData: true })`;

export async function bench() {
  await ensureBuiltPage();
  const scratch = await scratchPglite();
  const empty = await scratch.diskBytes();
  const db = await scratch.open();
  const startedAt = performance.now();
  await fill(db);
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows: sizes } = await sql<{ bytes: number }>`
    select pg_total_relation_size('trace_call')::float8 as bytes`.execute(db);
  await db.destroy();
  const disk = (await scratch.diskBytes()) - empty;
  // These runs have no vectors yet: embedding them would be measured, too.
  const pml = { learning: { enabled: false } };
  const gateway = await servePml({ data: scratch.dir, config: { mcpServers: {}, pml } });
  const browser = await launchBrowser();
  try {
    const ask = async (path: string) => {
      const began = performance.now();
      const reply = await fetch(`${gateway.url}/api${path}`, {
        headers: { authorization: `Bearer ${gateway.token}` },
      });
      await reply.text();
      if (!reply.ok) throw new Error(`${path}: HTTP ${reply.status}`);
      return performance.now() - began;
    };
    const storageState = await signIn(browser, String(gateway.ready.login_url));
    const openings = [];
    for (const [path, shown] of Object.entries(PAGES)) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const context = await browser.newContext({ viewport: WIDE, storageState });
        const page = await context.newPage();
        await page.addInitScript({ content: watchFor(shown) });
        await page.goto(`${gateway.url}${path}`);
        await page.waitForFunction(() => 'shownAt' in globalThis);
        times.push(await page.evaluate<number>('globalThis.shownAt'));
        await context.close();
      }
      openings.push({
        label: `${path} opened until it shows data, median of ${ROUNDS}`,
        value: percentile(times, 0.5),
        unit: 'ms',
        goal: '<= 1500 ms',
      });
    }
    const rows = [];
    for (const [label, path] of Object.entries(VIEWS)) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) times.push(await ask(path));
      rows.push({
        label: `${label}, median of ${ROUNDS}`,
        value: percentile(times, 0.5),
        unit: 'ms',
        goal: '<= 300 ms',
      });
    }
    return {
      name: 'calls',
      rows: [
        { label: 'calls in the store', value: CALLS, unit: '' },
        { label: 'runs in the store', value: CALLS / CALLS_PER_RUN, unit: '' },
        { label: 'writing them', value: seconds, unit: 's' },
        { label: 'disk', value: disk / 1e6, unit: 'MB' },
        { label: 'of it for the rows of calls', value: sizes[0]!.bytes / 1e6, unit: 'MB' },
        ...openings,
        ...rows,
      ],
    };
  } finally {
    await browser.close();
    await gateway.stop();
    await scratch.remove();
  }
}

async function fill(db: Kysely<Database>): Promise<void> {
  const store = createSqlStore(db);
  const runs = CALLS / CALLS_PER_RUN;
  const distinct = Math.min(DISTINCT, runs);
  await store.traces.appendAll(Array.from({ length: distinct }, (_, nth) => madeUp(nth)));
  const last = BEGAN + runs * APART_MS;
  for (let month = new Date(BEGAN); month.getTime() <= last; month.setUTCMonth(month.getUTCMonth() + 1))
    await sql`select ensure_trace_month(${month.toISOString()}::timestamptz)`.execute(db);
  for (let from = distinct; from < runs; from += COPIED) {
    await sql`
      insert into execution_trace (id, run_id, session_id, intent_text, executed_at, success, duration_ms,
        error_type, executed_path, tool_invocations, decisions, task_results, events, owner, visibility)
      select md5(id || '#' || nth), md5(run_id || '#' || nth), session_id, intent_text,
        executed_at + nth * ${distinct * APART_MS}::float8 * interval '1 millisecond', success, duration_ms,
        error_type, executed_path, tool_invocations, decisions, task_results, events, owner, visibility
      from execution_trace, generate_series(
        ${Math.floor(from / distinct)}::integer, ${Math.ceil(Math.min(from + COPIED, runs) / distinct) - 1}::integer
      ) as nth
      where seq <= ${distinct} order by nth, seq`.execute(db);
  }
  await sql`
    insert into approval (id, run_id, node, arguments_hash, arguments, reason, state, requested_at, settled_by)
    select md5(run_id), run_id, executed_path[1], 'hash', '{}', 'permissions.ask', 'used', executed_at, 'ann'
    from execution_trace where seq % ${ASKED_EACH}::integer = 0 order by seq`.execute(db);
  const { rows } = await sql<{ last: number }>`select max(seq) as last from trace_key`.execute(db);
  await store.graph.replaceAll({ edges: [], statistics: [], cursor: Number(rows[0]!.last) });
}

const SERVERS = ['files', 'mail', 'web', 'tickets', 'wiki', 'rare'];

function madeUp(nth: number): ExecutionTrace {
  const events = Array.from({ length: CALLS_PER_RUN }, (_, call) => eventsOf(nth, call)).flat();
  const { executedPath, toolInvocations } = deriveTrace(events);
  return {
    id: `trace-${nth}`,
    runId: `run-${nth}`,
    sessionId: `session-${nth % 40}`,
    origin: 'agent',
    owner: `user-${nth % 20}`,
    visibility: nth % 10 === 0 ? 'private' : 'shared',
    capabilityId: null,
    intentText: `do the work of kind ${nth % 25}`,
    intentEmbedding: null,
    embeddingModel: null,
    executedAt: new Date(BEGAN + nth * APART_MS),
    success: nth % 12 !== 0,
    durationMs: 1_000,
    errorMessage: null,
    errorType: null,
    executedPath,
    toolInvocations,
    decisions: [],
    taskResults: [],
    priority: 0.5,
    events,
    code: null,
    guest: null,
  };
}

function eventsOf(nth: number, call: number): TraceEvent[] {
  const mixed = nth * CALLS_PER_RUN + call;
  const server = mixed % 500 === 0 ? 'rare' : SERVERS[mixed % (SERVERS.length - 1)]!;
  const failed = nth % 12 === 0 && call === CALLS_PER_RUN - 1;
  const base = {
    traceId: `call-${call}`,
    parentTraceId: null,
    node: toolId(server, `tool_${mixed % 12}`),
  };
  const durationMs = 1 + ((mixed * 7919) % 1_000);
  return [
    { ...base, type: 'tool_start', ts: call * 1_000, args: { path: `notes/${mixed}.txt` } },
    {
      ...base,
      type: 'tool_end',
      ts: call * 1_000 + durationMs,
      success: !failed,
      durationMs,
      ...(failed
        ? {
            error: `It failed in its own way: ${mixed % 50}`,
            errorType: ERROR_TYPES[Math.floor(nth / 12) % ERROR_TYPES.length]!,
          }
        : { result: { text: 'x'.repeat(mixed % 97 === 0 ? 4_000 : 120) } }),
    },
  ];
}
