/**
 * A `Date` that reads `now` instead of the machine's clock. Its instances are ordinary dates: it shares the
 * prototype of the one it stands for.
 */
export function createGuestDate(now: () => number): DateConstructor {
  const { construct, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const Native = Date;
  const toText = Native.prototype.toString;
  const { apply } = Reflect;

  function GuestDate(...parts: unknown[]): unknown {
    const moment = parts.length === 0 ? [now()] : parts;
    if (new.target) return construct(Native, moment, new.target);
    return apply(toText, construct(Native, [now()]), []);
  }
  for (const key of ownKeys(Native)) {
    defineProperty(GuestDate, key, getOwnPropertyDescriptor(Native, key)!);
  }
  defineProperty(GuestDate, 'now', { value: () => now(), writable: true, configurable: true });
  return GuestDate as unknown as DateConstructor;
}
