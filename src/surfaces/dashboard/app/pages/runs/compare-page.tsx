import type { Trace } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { Badge, Icon, StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Await } from '../../components/states.tsx';
import { moveFocus } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { duration, plural } from '../../format.ts';
import { navigate } from '../../router.ts';
import { alignCalls, type Call, callsOf, differencesOf, endOf, toolCalls } from './calls.ts';
import { PairRow, SIDES } from './pair-row.tsx';
import { calledOf, statusOf, titleOf } from './run-row.ts';
import { useNodeNames, useRun } from './use-run.ts';

/** Two runs, call by call: common calls, calls of only one run, and durations. */
export function ComparePage({ ids }: { ids: readonly [string, string] }) {
  const left = useRun(ids[0]);
  const right = useRun(ids[1]);
  return (
    <>
      <PageHead
        title="Compare two runs"
        lead="Aligned by their calls. All bars have the same scale."
        actions={
          <Button icon="refresh" onClick={() => navigate(href.runs({ compare: `${ids[1]},${ids[0]}` }))}>
            Swap
          </Button>
        }
      />
      <Await of={left.state.value} retry={left.reload}>
        {(first) => (
          <Await of={right.state.value} retry={right.reload}>
            {(second) =>
              first.trace && second.trace ? (
                <Comparison traces={[first.trace, second.trace]} />
              ) : (
                <p role="alert">One of these runs does not exist or was deleted.</p>
              )
            }
          </Await>
        )}
      </Await>
    </>
  );
}

function Comparison({ traces }: { traces: readonly [Trace, Trace] }) {
  const nameOf = useNodeNames();
  const [a, b] = traces.map(({ events }) => toolCalls(callsOf(events))) as [Call[], Call[]];
  const pairs = alignCalls(a, b);
  const differing = pairs.filter((pair) => differencesOf(pair).length > 0).length;
  const longest = Math.max(endOf(a, 0), endOf(b, 0), 1e-3);
  return (
    <div class="stack">
      <div class="compare-heads">
        {traces.map((trace, side) => (
          <Head key={trace.id} trace={trace} side={side} other={traces[1 - side]!} />
        ))}
      </div>
      <section class="panel" aria-label="Calls of both">
        <p class="compare-sum" role="status">
          {differing === 0 ? (
            <>
              <Icon name="check" size={16} /> Both runs are the same
            </>
          ) : (
            `${plural(differing, 'difference')} in ${plural(pairs.length, 'place')}`
          )}
        </p>
        <ol class="compare-rows" onKeyDown={(event) => moveFocus(event, '.compare-line')}>
          {pairs.map((pair) => (
            <PairRow key={pair.key} pair={pair} longest={longest} nameOf={nameOf} />
          ))}
        </ol>
      </section>
    </div>
  );
}

function Head({ trace, side, other }: { trace: Trace; side: number; other: Trace }) {
  const factor = trace.duration_ms / Math.max(other.duration_ms, 1e-3);
  return (
    <article class="panel compare-head">
      <p class="faint">{SIDES[side]}</p>
      <h2>
        <a href={href.run(trace.id)}>{titleOf(trace.intent_text, trace.executed_path)}</a>
      </h2>
      <p class="row">
        <StatusBadge status={statusOf(trace)} />
        <span class="number">{duration(trace.duration_ms)}</span>
        {factor < 0.95 && <Badge tone="good">{(1 / factor).toFixed(1)}× faster</Badge>}
        <span class="muted">{plural(calledOf(trace.executed_path).length, 'call')}</span>
        <span class="muted">
          <Time at={trace.executed_at} />
        </span>
      </p>
    </article>
  );
}
