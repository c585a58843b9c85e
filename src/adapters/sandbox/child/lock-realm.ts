import { createGuestDate } from '../../../engine/guest/guest-date.ts';

/** Gives a fresh realm the run's own clock and chance in place of the machine's. Runs in the realm itself. */
export function lockRealm(now: () => number, random: () => number): void {
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const define = (home: object, name: string, value: unknown) =>
    defineProperty(home, name, { value, writable: true, configurable: true });
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
