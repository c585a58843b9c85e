import { duration, moment } from '../format.ts';

export function Duration({ ms }: { ms: number }) {
  return <span class="duration">{duration(ms)}</span>;
}

/** A moment, with the whole date for whoever points at it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {moment(at)}
    </time>
  );
}
