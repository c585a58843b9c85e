import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ErrorShape, RunKind, RunOrigin, Trace, TraceSummary } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError } from '../../api.ts';
import { Icon, StatusBadge } from '../../components/badge.tsx';
import { Button, CopyButton } from '../../components/button.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState, ErrorState } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { compact, duration, number, plural, shownLine, shownText } from '../../format.ts';
import { location, setQuery } from '../../router.ts';
import { HINTS } from './call-details.tsx';
import { CallList } from './call-list.tsx';
import { type Call, callsOf, concurrencyOf, endOf, rowsOf, tokensOf, toolCalls } from './calls.ts';
import { FlameView } from './flame-view.tsx';
import { type FollowedRun, useLiveRuns } from './live-runs.ts';
import { replayOf } from './prepare-replay.ts';
import { ReplayDialog } from './replay-dialog.tsx';
import { RunProgram, RunResult } from './run-program.tsx';
import { Diagnosis, VerdictBar } from './run-review.tsx';
import { rowOfTrace, STARTED_BY_PML, statusOf, titleOf } from './run-row.ts';
import { type LoadedRun, useNodeNames, useRun } from './use-run.ts';

const DEFAULTS = {
  /** Milliseconds before a trace that is not stored yet is requested again. */
  againMs: 500,
  everyMs: 200,
};

/** One run, stored or running. */
export function RunPage({ id }: { id: string }) {
  const run = useRun(id);
  const live = useLiveRuns().state.value;
  const { data } = run.state.value;
  const runId = data?.trace?.run_id ?? id;
  const followed = live.data?.runs.find((known) => known.run_id === runId);
  // A run that called nothing has no trace to wait for.
  const isLate = data?.trace === null && typeof followed?.end?.traceId === 'string';
  useEffect(() => {
    if (!isLate) return;
    const timer = setTimeout(run.reload, DEFAULTS.againMs);
    return () => clearTimeout(timer);
  }, [isLate, run.state.value]);
  return (
    <Await of={run.state.value} retry={run.reload} lines={8}>
      {(loaded) => {
        // A run is followed live; a trace does not change.
        const isFollowed = followed && (loaded.trace === null || (!followed.end && id === runId));
        if (isFollowed) return <Followed run={followed} />;
        const { trace } = loaded;
        if (trace) {
          const onSaid = (verdict: Trace['verdict']) => run.set({ ...loaded, trace: { ...trace, verdict } });
          return <Stored trace={trace} parts={loaded.parts} onSaid={onSaid} />;
        }
        if (live.isLoading) return null;
        const error = new ApiError(404, 'not_found', `Run ${id} not found`, 'It may have been deleted.');
        return (
          <>
            <PageHead title="Run" />
            <ErrorState error={error} onRetry={run.reload} />
          </>
        );
      }}
    </Await>
  );
}

function Followed({ run }: { run: FollowedRun }) {
  const last = run.events.at(-1);
  const now = useNow(run.end === undefined);
  const calls = callsOf(run.events);
  const first = run.events[0];
  // Current time on the calls' clock.
  const elapsed = last && first ? last.ts - first.ts + Math.max(0, now - Date.parse(last.at)) : 0;
  const path = run.events.filter(({ type }) => type.endsWith('_start')).map(({ node }) => node);
  const head: RunHead = {
    title: titleOf(run.intent, path),
    status: run.end?.status ?? 'running',
    kind: null,
    startedAt: run.started_at,
    durationMs: run.end?.durationMs ?? Math.max(0, now - Date.parse(run.started_at)),
    sessionId: run.session_id,
    origin: run.origin,
    runId: run.run_id,
  };
  return (
    <>
      <PageHead title={head.title} />
      <div class="stack">
        <RunFacts head={head} calls={calls} now={elapsed} parts={[]} />
        <Views calls={calls} now={elapsed} trace={null} />
      </div>
    </>
  );
}

function Stored({
  trace,
  parts,
  onSaid,
}: {
  trace: Trace;
  parts: LoadedRun['parts'];
  onSaid: (verdict: Trace['verdict']) => void;
}) {
  const [isReplaying, setReplaying] = useState(false);
  const nameOf = useNodeNames();
  const calls = callsOf(trace.events);
  const now = endOf(calls, 0);
  const head: RunHead = {
    title: titleOf(trace.intent_text, trace.executed_path),
    status: statusOf(trace),
    kind: trace.kind,
    startedAt: trace.executed_at,
    durationMs: trace.duration_ms,
    sessionId: trace.session_id,
    origin: trace.origin,
    runId: trace.run_id,
    traceId: trace.id,
  };
  return (
    <>
      <PageHead
        title={head.title}
        actions={
          <>
            {trace.kind === 'workflow' && (
              <a class="button" href={href.workflow(trace.run_id)}>
                Plan
              </a>
            )}
            <a class="button" href={href.graph({ run: trace.id })}>
              In the graph
            </a>
            <a class="button" href={href.runs({ compare: trace.id })}>
              Compare
            </a>
            <Button needs="run" kind="primary" icon="refresh" onClick={() => setReplaying(true)}>
              Run again
            </Button>
          </>
        }
      />
      <div class="stack">
        <RunFacts head={head} calls={calls} now={now} parts={parts} />
        <RunError trace={trace} />
        <Diagnosis trace={trace} nameOf={nameOf} />
        <Views calls={calls} now={now} trace={trace} />
        <VerdictBar trace={trace} onSaid={onSaid} />
      </div>
      {isReplaying && (
        <ReplayDialog prepare={() => replayOf(trace)} before={trace.id} onClose={() => setReplaying(false)} />
      )}
    </>
  );
}

const TABS = [
  { name: 'timeline', title: 'Timeline' },
  { name: 'tree', title: 'Tree' },
  { name: 'flame', title: 'Flame' },
  { name: 'result', title: 'Result' },
  { name: 'program', title: 'Program' },
] as const;
type TabName = (typeof TABS)[number]['name'];

function Views({
  calls,
  now,
  trace,
}: {
  calls: ReturnType<typeof callsOf>;
  now: number;
  trace: Trace | null;
}) {
  const nameOf = useNodeNames();
  const tabs = TABS.filter(
    ({ name }) =>
      (name !== 'program' || (trace !== null && trace.code !== null)) &&
      (name !== 'result' || trace !== null),
  );
  const asked = location.value.query.get('tab');
  const tools = toolCalls(calls);
  const steps = rowsOf(calls).length - rowsOf(tools).length;
  const isWhole = location.value.query.get('steps') === 'all';
  const shown = isWhole ? calls : tools;
  const current: TabName = tabs.find(({ name }) => name === asked)?.name ?? 'timeline';
  return (
    <section class="panel run-views" aria-label="The run">
      <Tabs label="Views of the run" tabs={tabs} current={current} onChange={(tab) => setQuery({ tab })}>
        {current === 'program' && trace ? (
          <RunProgram trace={trace} />
        ) : current === 'result' && trace ? (
          <RunResult trace={trace} />
        ) : calls.length === 0 ? (
          <EmptyState icon="runs" title={trace ? 'This run made no calls' : 'No calls yet'} />
        ) : (
          <>
            {current === 'flame' ? (
              <FlameView calls={shown} now={now} nameOf={nameOf} />
            ) : (
              <CallList
                key={current}
                calls={shown}
                mode={current === 'tree' ? 'tree' : 'timeline'}
                now={now}
                nameOf={nameOf}
                flows={trace?.value_flow ?? []}
                {...(trace && { trace })}
              />
            )}
            {steps > 0 && (
              <button
                type="button"
                class="more"
                aria-pressed={isWhole}
                onClick={() => setQuery({ steps: isWhole ? undefined : 'all' })}
              >
                {isWhole ? 'Hide' : 'Show'} {plural(steps, 'step')} within the program
              </button>
            )}
          </>
        )}
      </Tabs>
    </section>
  );
}

/** The time in milliseconds since 1970, updated a few times a second if `isTicking`. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isTicking) return;
    const timer = setInterval(() => setNow(Date.now()), DEFAULTS.everyMs);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

export interface RunHead {
  readonly title: string;
  readonly status: string;
  readonly kind: RunKind | null;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly sessionId: string | null;
  readonly origin: RunOrigin;
  readonly runId: string;
  readonly traceId?: string;
}

/** A run at a glance. */
function RunFacts({
  head,
  calls,
  now,
  parts,
}: {
  head: RunHead;
  calls: readonly Call[];
  now: number;
  parts: readonly TraceSummary[];
}) {
  const tools = toolCalls(calls);
  const all = rowsOf(tools);
  const tokens = all.reduce((sum, call) => sum + tokensOf(call), 0);
  const failed = all.filter(({ status }) => status === 'error').length;
  const most = Math.max(0, ...concurrencyOf(tools, now).map(({ count }) => count));
  return (
    <dl class="run-facts">
      <Fact name="Status">
        <StatusBadge status={head.status} />
      </Fact>
      {head.kind && <Fact name="Kind">{head.kind}</Fact>}
      <Fact name="Took">
        <Duration ms={head.durationMs} />
        {all.length > 0 && <span class="run-fact-note">{duration(endOf(calls, now))} in calls</span>}
      </Fact>
      <Fact name="Calls">
        {number(all.length)}
        {failed > 0 && <span class="run-fact-note bad">{failed} failed</span>}
      </Fact>
      {tokens > 0 && <Fact name="Tokens">≈ {compact(tokens)}</Fact>}
      {most > 1 && <Fact name="Concurrent">{number(most)}</Fact>}
      <Fact name="Began">
        <Time at={head.startedAt} />
      </Fact>
      {head.origin !== 'agent' && <Fact name="Why">{STARTED_BY_PML[head.origin].why}</Fact>}
      {head.sessionId !== null && (
        <Fact name="Session">
          <a href={href.runs({ session: head.sessionId })}>{shownLine(head.sessionId, 12)}</a>
        </Fact>
      )}
      {parts.length > 1 && (
        <Fact name="Parts">
          {parts.map((part, i) =>
            part.id === head.traceId ? (
              <strong key={part.id}>{i + 1} </strong>
            ) : (
              <a key={part.id} href={href.run(part.id)} title={rowOfTrace(part).status}>
                {i + 1}{' '}
              </a>
            ),
          )}
        </Fact>
      )}
      <Fact name="Id">
        <code>{(head.traceId ?? head.runId).slice(0, 8)}</code>
        <CopyButton text={head.traceId ?? head.runId} label="Copy the id" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="run-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Why a run did not succeed, and what to do next. */
function RunError({ trace }: { trace: Trace }) {
  const status = statusOf(trace);
  if (status === 'success') return null;
  if (status === 'approval_required') {
    return (
      <div class="run-problem run-waits" role="status">
        <Icon name="hand" />
        <div>
          <p>
            <strong>This run is waiting for a decision.</strong> {shownText(trace.error_message ?? '')}
          </p>
          <p>
            <a href={href.workflow(trace.run_id)}>Show the approval</a>
          </p>
        </div>
      </div>
    );
  }
  const told = trace.task_results
    .map((task) => (task as { error?: ErrorShape }).error)
    .find((error) => error !== undefined);
  const hint = told?.hint ?? (trace.error_type && HINTS[trace.error_type]);
  return (
    <div class="run-problem" role="status">
      <Icon name="alert" />
      <div>
        <p class="run-problem-text">{shownText((trace.error_message ?? 'The run failed').slice(0, 4000))}</p>
        {hint && <p class="muted">{shownText(hint)}</p>}
      </div>
    </div>
  );
}
