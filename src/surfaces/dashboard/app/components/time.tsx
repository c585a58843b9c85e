import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ago, duration, moment } from '../format.ts';

const DEFAULTS = { everyMs: 5_000 };

/** One clock for all; it ticks only while something shows it. */
const now = signal(Date.now());
let lookers = 0;
let ticking: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now.value = Date.now();
}

export function Duration({ ms }: { ms: number }) {
  return <span class="duration">{duration(ms)}</span>;
}

/** A time, with the full date on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {moment(at)}
    </time>
  );
}

/** How long ago it was; updates itself. */
export function Ago({ at }: { at: string }) {
  useEffect(() => {
    tick();
    if (lookers++ === 0) ticking = setInterval(tick, DEFAULTS.everyMs);
    return () => {
      if (--lookers === 0) clearInterval(ticking);
    };
  }, []);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(at, now.value)}
    </time>
  );
}
