import { createGuestDate } from '../../../engine/ports/guest/guest-date.ts';

/**
 * Takes from a fresh realm whatever tells the time, makes chance, shares memory or sees the garbage
 * collector; clock and chance come back as the run's own. Sent into the realm as text.
 */
export function lockRealm(now: () => number, random: () => number): void {
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const define = (home: object, name: string, value: unknown) =>
    defineProperty(home, name, { value, writable: true, configurable: true });
  const gone = [
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'FinalizationRegistry',
    'WeakRef',
    'Temporal',
    'console',
  ];
  for (const name of gone) deleteProperty(globalThis, name);
  deleteProperty(Date.prototype, 'toTemporalInstant');

  const GuestDate = createGuestDate(now);
  define(Date.prototype, 'constructor', GuestDate);
  define(globalThis, 'Date', GuestDate);
  define(Math, 'random', () => random());

  const formats = Intl.DateTimeFormat.prototype;
  const { get } = getOwnPropertyDescriptor(formats, 'format') as { get: () => (date: unknown) => string };
  const { formatToParts } = formats;
  const moment = (date: unknown) => (date === undefined ? now() : date);
  defineProperty(formats, 'format', {
    get() {
      const format = apply(get, this, []) as (date: unknown) => string;
      return (date: unknown) => format(moment(date));
    },
    configurable: true,
  });
  define(formats, 'formatToParts', function (this: unknown, date: unknown) {
    return apply(formatToParts, this, [moment(date)] as never);
  });
}
