import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { GoodRun, Trace } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson, postJson } from '../../api.ts';
import { Icon } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { duration, plural, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { refusal } from '../../who.ts';
import { HINTS } from './call-details.tsx';
import { type Call, callsOf, type Departure, departuresOf, rowsOf, toolCalls, valueAt } from './calls.ts';
import { statusOf } from './run-row.ts';

const DEFAULTS = {
  /** Differences that are told; the comparison shows all. */
  told: 5,
  /** Characters of a value. */
  value: 60,
};

const SAME: Readonly<Record<NonNullable<GoodRun['same']>, string>> = {
  capability: 'of the same capability',
  intent: 'for the same intent',
  program: 'of the same program',
  calls: 'with the same calls',
};

interface Baseline {
  readonly good: Trace | null;
  readonly same: GoodRun['same'];
}

/** What went wrong, or differently, in words, with links to the calls that show it. */
export function Diagnosis({ trace, nameOf }: { trace: Trace; nameOf: (node: string) => string }) {
  const found = useResource<Baseline>(`good run ${trace.id}`, {
    async load(signal) {
      const { trace_id, same } = await getJson<GoodRun>(
        `/traces/${encodeURIComponent(trace.id)}/good`,
        {},
        signal,
      );
      const good = trace_id && (await getJson<Trace>(`/traces/${encodeURIComponent(trace_id)}`, {}, signal));
      return { good: good || null, same };
    },
  });
  const { data } = found.state.value;
  const calls = toolCalls(callsOf(trace.events));
  const failed = rowsOf(calls).findLast(({ status }) => status === 'error');
  const isFailed = statusOf(trace) === 'error';
  const good = data?.good;
  if (!data || (!good && !isFailed)) return null;
  const departures = good ? departuresOf(toolCalls(callsOf(good.events)), calls) : [];
  return (
    <section class="panel run-diagnosis" aria-label="Diagnosis">
      <h2>{isFailed ? 'Why it failed' : 'Compared with the last good run'}</h2>
      {isFailed && (
        <p>
          {failed ? (
            <>
              <CallLink trace={trace} call={failed} nameOf={nameOf} /> failed
              {failed.errorType && `: ${HINTS[failed.errorType].split('. ')[0]}`}.
            </>
          ) : (
            'No call failed: the program itself did, or was stopped.'
          )}
        </p>
      )}
      {!good ? (
        <p class="muted">No earlier run of this kind succeeded, so there is nothing to compare it with.</p>
      ) : (
        <>
          <p class="muted">
            The <a href={href.run(good.id)}>last good run</a> {data.same && SAME[data.same]}
            {departures.length === 0 ? ' made the same calls with the same answers' : ' was different'}
            {tookOf(trace, good)}. <a href={href.runs({ compare: `${good.id},${trace.id}` })}>Compare both</a>
          </p>
          {departures.length > 0 && (
            <ol class="run-departures">
              {departures.slice(0, DEFAULTS.told).map((departure, nth) => (
                <li key={nth}>
                  {nth === 0 && <strong>First: </strong>}
                  <Told departure={departure} trace={trace} good={good} nameOf={nameOf} />
                </li>
              ))}
            </ol>
          )}
          {departures.length > DEFAULTS.told && (
            <p class="muted">{plural(departures.length - DEFAULTS.told, 'more difference')} after these.</p>
          )}
        </>
      )}
    </section>
  );
}

function tookOf(trace: Trace, good: Trace): string {
  return `; it took ${duration(good.duration_ms)}, this one ${duration(trace.duration_ms)}`;
}

interface OfRun {
  readonly trace: Trace;
  nameOf(node: string): string;
}

function CallLink({ trace, call, nameOf }: OfRun & { call: Call }) {
  return (
    <a class="mono" href={href.run(trace.id, { tab: 'tree', call: call.id })}>
      {nameOf(call.node)}
    </a>
  );
}

function Told({ departure, trace, good, nameOf }: OfRun & { departure: Departure; good: Trace }) {
  const { what, call, good: before, path } = departure;
  const here = call && <CallLink trace={trace} call={call} nameOf={nameOf} />;
  const there = before && <CallLink trace={good} call={before} nameOf={nameOf} />;
  const change = (of: 'args' | 'result') => (
    <Change path={path} before={valueAt(before?.[of], path)} now={valueAt(call?.[of], path)} />
  );
  const took = (one: Call | null) => duration(one ? (one.end ?? one.start) - one.start : 0);
  const sentences: Readonly<Record<Departure['what'], ComponentChildren>> = {
    failure: (
      <>
        {here} failed where it had worked: {shownLine(call?.error ?? '', 160)}
      </>
    ),
    arguments: (
      <>
        {here} got different arguments{change('args')}
      </>
    ),
    answer: (
      <>
        {here} gave a different answer{change('result')}
      </>
    ),
    order: <>{here} was called in a different order.</>,
    missing: <>{there} was not called this time.</>,
    extra: <>{here} was called in addition.</>,
    time: (
      <>
        {here} took {took(call)} instead of {took(before)}.
      </>
    ),
  };
  return <>{sentences[what]}</>;
}

function Change({ path, before, now }: { path: readonly string[]; before: unknown; now: unknown }) {
  const told = (value: unknown) =>
    value === undefined ? 'nothing' : shownLine(JSON.stringify(value), DEFAULTS.value);
  return (
    <>
      {path.length === 0 ? (
        ': '
      ) : (
        <>
          {' '}
          at <code>{shownLine(path.join('.'), 60)}</code>:{' '}
        </>
      )}
      <code>{told(now)}</code> instead of <code>{told(before)}</code>
    </>
  );
}

/** Thumbs up or down with a reason: what is learned follows it. */
export function VerdictBar({ trace, onSaid }: { trace: Trace; onSaid: (verdict: Trace['verdict']) => void }) {
  const { verdict } = trace;
  const [asked, setAsked] = useState<boolean | null>(null);
  const [reason, setReason] = useState('');
  const refused = refusal('decide');
  const say = async (good: boolean | null) => {
    const said = postJson<{ verdict: Trace['verdict'] }>(`/runs/${encodeURIComponent(trace.id)}/verdict`, {
      good,
      ...(reason.trim() && { reason: reason.trim() }),
    });
    const done = await tellingOutcome(
      said,
      good === null ? 'Taken back' : 'Thank you: PML will learn from it',
    );
    setAsked(null);
    setReason('');
    if (done) onSaid(done.verdict);
  };
  return (
    <section class="run-verdict" aria-label="Verdict">
      {verdict ? (
        <p>
          <Icon name={verdict.good ? 'up' : 'down'} size={16} />{' '}
          <strong>{verdict.good ? 'Good' : 'Bad'}</strong>, says {shownLine(verdict.by, 40)}
          {verdict.reason && <>: “{shownLine(verdict.reason, 200)}”</>}
        </p>
      ) : (
        <p>Did this run do what you wanted?</p>
      )}
      <div class="row">
        <Button
          kind="quiet"
          icon="up"
          needs="decide"
          aria-label="Good run"
          aria-pressed={verdict?.good === true}
          onClick={() => setAsked(true)}
        />
        <Button
          kind="quiet"
          icon="down"
          needs="decide"
          aria-label="Bad run"
          aria-pressed={verdict?.good === false}
          onClick={() => setAsked(false)}
        />
        {verdict && !refused && (
          <Button kind="quiet" onClick={() => void say(null)}>
            Take back
          </Button>
        )}
      </div>
      {asked !== null && (
        <form
          class="run-verdict-form"
          onSubmit={(event) => {
            event.preventDefault();
            void say(asked);
          }}
        >
          <input
            aria-label="Reason"
            placeholder={asked ? 'What was good about it? (optional)' : 'What was wrong? (optional)'}
            maxLength={1000}
            value={reason}
            // biome-ignore lint/a11y/noAutofocus: it appears because the user asked for it
            autoFocus
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <Button kind="primary" type="submit">
            {asked ? 'Call it good' : 'Call it bad'}
          </Button>
          <Button kind="quiet" onClick={() => setAsked(null)}>
            Cancel
          </Button>
        </form>
      )}
    </section>
  );
}
