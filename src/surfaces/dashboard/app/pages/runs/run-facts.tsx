import type { ComponentChildren } from 'preact';
import type { ErrorShape, RunKind, RunOrigin, Trace, TraceSummary } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { Icon, StatusBadge } from '../../components/badge.tsx';
import { CopyButton } from '../../components/button.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { compact, duration, number, shownLine, shownText } from '../../format.ts';
import { HINTS } from './call-details.tsx';
import { type Call, concurrencyOf, endOf, rowsOf, tokensOf, toolCalls } from './calls.ts';
import { rowOfTrace, STARTED_BY_PML, statusOf } from './run-row.ts';

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
export function RunFacts({
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
export function RunError({ trace }: { trace: Trace }) {
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
