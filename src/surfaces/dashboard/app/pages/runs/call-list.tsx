import { useEffect, useRef, useState } from 'preact/hooks';
import type { Trace } from '../../../shared/api-types.ts';
import { Icon } from '../../components/badge.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Duration } from '../../components/time.tsx';
import { duration, shownLine } from '../../format.ts';
import { location, setQuery } from '../../router.ts';
import { CallDetails } from './call-details.tsx';
import { type Call, concurrencyOf, endOf, rowsOf, stepsOf, ticksOf } from './calls.ts';
import { calledOf } from './run-row.ts';

const DEFAULTS = {
  /** Calls drawn before "Show more". */
  rows: 300,
  /** Characters of arguments and result on a line. */
  preview: 90,
  ticks: 6,
  /** In percent of the axis: a figure further right would not fit. */
  lastTick: 92,
  hues: 4,
  shown: 6,
};

const ICONS = { running: 'play', success: 'check', error: 'cross' } as const;

/**
 * The calls of a run, each below its caller: as a tree with arguments and results, or as a timeline. The up
 * and down keys move through it, left and right close and open, Enter shows a call's details.
 */
export function CallList({
  calls,
  mode,
  now,
  nameOf,
  flows = [],
  trace,
}: {
  calls: readonly Call[];
  mode: 'tree' | 'timeline';
  /** Current time on the axis of the calls, for running ones. */
  now: number;
  nameOf: (node: string) => string;
  flows?: Trace['value_flow'];
  /** Absent while the run goes on. */
  trace?: Trace;
}) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [count, setCount] = useState(DEFAULTS.rows);
  const open = location.value.query.get('call');
  const list = useRef<HTMLOListElement>(null);
  const [at, setAt] = useState<string | null>(open);
  const all = rowsOf(calls, closed);
  const rows = all.slice(0, count);
  const end = endOf(calls, now);
  const hueOf = huesOf(calls);
  const current = rows.some(({ id }) => id === at) ? at : (rows[0]?.id ?? null);
  useEffect(() => {
    list.current?.querySelector('[data-open]')?.scrollIntoView({ block: 'nearest' });
  }, []);

  const show = (id: string) => setQuery({ call: id === open ? undefined : id });
  const toggle = (id: string, isClosed = !closed.has(id)) => {
    const next = new Set(closed);
    if (isClosed) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  const go = (id: string | undefined) => {
    if (id === undefined) return;
    setAt(id);
    list.current?.querySelector<HTMLElement>(`[data-call="${CSS.escape(id)}"]`)?.focus();
  };
  const hear = (event: KeyboardEvent, call: Call, index: number) => {
    const action = keyAction(event.key, call, { rows, index, closed });
    if (!action) return;
    event.preventDefault();
    if (action.go !== undefined) go(action.go);
    if (action.close !== undefined) toggle(call.id, action.close);
  };

  return (
    <div
      class={`calls calls-${mode}${calls.some(({ children }) => children.length > 0) ? '' : ' calls-flat'}`}
      style={{ '--step': `${stepShare(end)}%` }}
    >
      {mode === 'timeline' && <TimeAxis end={end} calls={calls} now={now} />}
      <SteadyRows rows={rows} keyOf={({ id }) => id} view={`${mode} ${count} ${[...closed].join(' ')}`}>
        {(steady) => (
          <ol
            class="calls-rows"
            aria-label={mode === 'tree' ? 'Calls as a tree' : 'Calls over time'}
            ref={list}
          >
            {steady.map((call, index) => (
              <li
                key={call.id}
                {...(call.id === open && { 'data-open': true })}
                class={`call call-${call.status}`}
              >
                <button
                  type="button"
                  class="call-line"
                  data-call={call.id}
                  aria-expanded={call.id === open}
                  tabIndex={call.id === current ? 0 : -1}
                  onKeyDown={(event) => hear(event, call, index)}
                  onFocus={() => setAt(call.id)}
                  onClick={() => show(call.id)}
                >
                  <span class="call-name" style={{ paddingLeft: `${Math.min(call.depth, 12) * 18}px` }}>
                    <Twisty call={call} isClosed={closed.has(call.id)} onToggle={() => toggle(call.id)} />
                    <span class={`call-state call-state-${call.status}`}>
                      <Icon name={ICONS[call.status]} size={13} />
                      <span class="hidden">
                        {call.status}
                        {call.depth > 0 && `, level ${call.depth + 1}`}
                      </span>
                    </span>
                    <NodeName name={nameOf(call.node)} />
                  </span>
                  {mode === 'timeline' ? (
                    <CallBar call={call} end={end} now={now} hue={hueOf(call.node)} />
                  ) : (
                    <>
                      <span class="call-preview">{previewOf(call)}</span>
                      <span class="call-took">
                        {call.end === null ? 'running' : <Duration ms={call.end - call.start} />}
                      </span>
                    </>
                  )}
                </button>
                {call.id === open && (
                  <CallDetails
                    call={call}
                    nameOf={nameOf}
                    flows={flows}
                    calls={calls}
                    {...(trace && { trace })}
                  />
                )}
              </li>
            ))}
          </ol>
        )}
      </SteadyRows>
      {all.length > rows.length && (
        <button type="button" class="more" onClick={() => setCount(count + DEFAULTS.rows)}>
          Show more of {all.length} calls
        </button>
      )}
    </div>
  );
}

function Twisty({ call, isClosed, onToggle }: { call: Call; isClosed: boolean; onToggle: () => void }) {
  if (call.children.length === 0) return <span class="call-twisty" />;
  return (
    // For the pointer; on the keyboard the left and right keys do this.
    <span
      aria-hidden="true"
      class={`call-twisty call-twisty-${isClosed ? 'closed' : 'open'}`}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      <Icon name="chevron" size={13} />
    </span>
  );
}

interface KeyAction {
  readonly go?: string | undefined;
  readonly close?: boolean;
}

/** As in any tree: WAI-ARIA, tree view pattern. */
function keyAction(
  key: string,
  call: Call,
  { rows, index, closed }: { rows: readonly Call[]; index: number; closed: ReadonlySet<string> },
): KeyAction | null {
  const hasChildren = call.children.length > 0;
  switch (key) {
    case 'ArrowDown':
      return { go: rows[index + 1]?.id };
    case 'ArrowUp':
      return { go: rows[index - 1]?.id };
    case 'Home':
      return { go: rows[0]?.id };
    case 'End':
      return { go: rows.at(-1)?.id };
    case 'ArrowRight':
      if (!hasChildren) return null;
      return closed.has(call.id) ? { close: false } : { go: call.children[0]?.id };
    case 'ArrowLeft':
      if (hasChildren && !closed.has(call.id)) return { close: true };
      return { go: rows.slice(0, index).findLast(({ depth }) => depth < call.depth)?.id };
    default:
      return null;
  }
}

/** The arguments and the outcome. */
function previewOf({ args, result, error }: Call): string {
  const told = (value: unknown) =>
    value === undefined ? '' : shownLine(JSON.stringify(value), DEFAULTS.preview);
  const gave = error === null ? told(result) : shownLine(error, DEFAULTS.preview);
  return [told(args), gave].filter(Boolean).join('  →  ');
}

/** The time span of a call. Its colour shows its server, its pattern its status. */
function CallBar({ call, end, now, hue }: { call: Call; end: number; now: number; hue: number }) {
  const scale = 100 / Math.max(end, 1e-3);
  const until = call.end ?? now;
  const [left, width] = [call.start * scale, Math.max(0, until - call.start) * scale];
  // Places the figure where it fits.
  const side = left + width > 84 ? (left > 16 ? 'before' : 'within') : 'after';
  return (
    <span class="call-track">
      <span
        class={`call-bar call-bar-${call.status}${call.children.length > 0 ? ' call-bar-whole' : ''} chart-${hue}`}
        style={{ left: `${left}%`, width: `${width}%` }}
      />
      <span
        class={`call-figure call-figure-${side}`}
        style={
          side === 'before'
            ? { right: `${100 - left}%` }
            : { left: `${side === 'after' ? left + width : left}%` }
        }
      >
        {call.end === null ? 'running' : duration(until - call.start)}
      </span>
    </span>
  );
}

/** Round times above the bars, and the number of concurrent calls. */
function TimeAxis({ end, calls, now }: { end: number; calls: readonly Call[]; now: number }) {
  const scale = 100 / Math.max(end, 1e-3);
  const steps = concurrencyOf(calls, now);
  const most = Math.max(0, ...steps.map(({ count }) => count));
  return (
    <div class="calls-axis">
      <span class="calls-most">{most > 1 ? `up to ${most} at once` : 'one after the other'}</span>
      <div class="calls-scale" aria-hidden="true">
        {ticksOf(end, DEFAULTS.ticks).map((tick) => (
          <span key={tick} class="calls-tick" style={{ left: `${tick * scale}%` }}>
            {tick === 0 ? '0' : tick * scale < DEFAULTS.lastTick && tickText(tick)}
          </span>
        ))}
        <svg class="calls-concurrency" viewBox="0 0 100 20" preserveAspectRatio="none" role="presentation">
          <path d={areaOf(steps, scale, most)} />
        </svg>
      </div>
    </div>
  );
}

/** 2.00 s is 2 s. */
function tickText(tick: number): string {
  return duration(tick).replace(/\.\d+(?= )/, (fraction) => String(Number(`0${fraction}`)).slice(1));
}

/** Distance between the lines of the axis, in percent of its length. */
function stepShare(end: number): number {
  const [, step] = ticksOf(end, DEFAULTS.ticks);
  return step === undefined ? 100 : (step / end) * 100;
}

/** A step function, closed at the bottom. */
function areaOf(steps: readonly { at: number; count: number }[], scale: number, most: number): string {
  if (most === 0) return '';
  const height = (count: number) => 20 - (count / most) * 18;
  const stair = steps.map(({ at, count }) => `H${(at * scale).toFixed(2)}V${height(count).toFixed(2)}`);
  return `M0 20${stair.join('')}V20Z`;
}

/** A colour for each server, in order of appearance; the fifth reuses the first. */
function huesOf(calls: readonly Call[]): (node: string) => number {
  const servers = [...new Set(rowsOf(calls).map(({ node }) => serverOf(node)))];
  return (node) => (servers.indexOf(serverOf(node)) % DEFAULTS.hues) + 1;
}

function serverOf(node: string): string {
  return node.slice(0, Math.max(0, node.indexOf(':')));
}

/** The calls in order, on one line. */
export function PathSteps({ path, nameOf }: { path: readonly string[]; nameOf: (node: string) => string }) {
  const steps = stepsOf(calledOf(path));
  if (steps.length === 0) return null;
  return (
    <span class="path-steps">
      {steps.slice(0, DEFAULTS.shown).map(({ node, count }, i) => (
        <span key={i} class="path-step">
          <NodeName name={nameOf(node)} />
          {count > 1 && <span class="path-count">×{count}</span>}
        </span>
      ))}
      {steps.length > DEFAULTS.shown && (
        <span class="path-step faint">and {steps.length - DEFAULTS.shown} more</span>
      )}
    </span>
  );
}

/** `server:tool` with a muted server. */
export function NodeName({ name }: { name: string }) {
  const at = name.indexOf(':');
  if (at < 0) return <span class="node-name">{name}</span>;
  return (
    <span class="node-name">
      <span class="node-server">{name.slice(0, at + 1)}</span>
      {name.slice(at + 1)}
    </span>
  );
}
