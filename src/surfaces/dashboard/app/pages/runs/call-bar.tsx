import { duration } from '../../format.ts';
import { type Call, concurrencyOf, rowsOf, ticksOf } from './calls.ts';

const DEFAULTS = {
  ticks: 6,
  /** In percent of the axis: a figure further right has no room. */
  lastTick: 92,
  hues: 4,
};

/** When a call was under way. Its colour is its server's, its pattern says how it went. */
export function CallBar({ call, end, now, hue }: { call: Call; end: number; now: number; hue: number }) {
  const scale = 100 / Math.max(end, 1e-3);
  const until = call.end ?? now;
  const [left, width] = [call.start * scale, Math.max(0, until - call.start) * scale];
  // The figure stands where there is room.
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

/** Round times above the bars, and how many calls were under way at once. */
export function TimeAxis({ end, calls, now }: { end: number; calls: readonly Call[]; now: number }) {
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

/** How far the lines of the axis are apart, in percent of its length. */
export function stepShare(end: number): number {
  const [, step] = ticksOf(end, DEFAULTS.ticks);
  return step === undefined ? 100 : (step / end) * 100;
}

/** A stair from moment to moment, closed at the bottom. */
function areaOf(steps: readonly { at: number; count: number }[], scale: number, most: number): string {
  if (most === 0) return '';
  const height = (count: number) => 20 - (count / most) * 18;
  const stair = steps.map(({ at, count }) => `H${(at * scale).toFixed(2)}V${height(count).toFixed(2)}`);
  return `M0 20${stair.join('')}V20Z`;
}

/** A colour for each server, in the order they appear; the fifth reuses the first. */
export function huesOf(calls: readonly Call[]): (node: string) => number {
  const servers = [...new Set(rowsOf(calls).map(({ node }) => serverOf(node)))];
  return (node) => (servers.indexOf(serverOf(node)) % DEFAULTS.hues) + 1;
}

function serverOf(node: string): string {
  return node.slice(0, Math.max(0, node.indexOf(':')));
}
