import {
  createGuestDate,
  createGuestFrame,
  type FrameNative,
  type FrameSizes,
} from '../../../engine/guest/guest-frame.ts';
import type { SiteNames } from '../../../engine/guest/guest-hooks.ts';

/** The host functions a program's realm can call. */
export interface RealmNative extends FrameNative {
  /** The next random numbers. */
  randoms(): readonly number[];
}

/**
 * Starts the program when `main` is given, otherwise delivers an answer. One function, so that the child
 * holds only one reference.
 */
export type EnterGuest = (
  main: unknown,
  id: number,
  ok: boolean,
  text: string,
  at: number,
  args?: string,
  deps?: string,
) => void;

/** The `text` argument of a start, as JSON. */
export interface StartText extends FrameSizes {
  readonly sites: SiteNames;
}

/** Passes a realm its host functions; called once. */
export type InstallGuest = (
  callTool: RealmNative['callTool'],
  callCapability: RealmNative['callCapability'],
  begin: RealmNative['begin'],
  finish: RealmNative['finish'],
  decide: RealmNative['decide'],
  print: RealmNative['print'],
  succeed: RealmNative['succeed'],
  fail: RealmNative['fail'],
  randoms: RealmNative['randoms'],
) => EnterGuest;

/**
 * Prepares a realm for one program as far as possible without knowing the program. Runs in the realm itself.
 */
export function prepareGuest(): InstallGuest {
  const { parse } = JSON;
  const native = { __proto__: null } as unknown as RealmNative;
  let numbers: readonly number[] = [];
  let used = 0;
  const random = () => {
    if (used === numbers.length) {
      numbers = native.randoms();
      used = 0;
    }
    return numbers[used++]!;
  };
  let now = () => 0;
  lockRealm(() => now(), random);
  const frame = createGuestFrame(native);
  now = frame.now;
  const enter: EnterGuest = (main, id, ok, text, at, args, deps) => {
    if (main === undefined) return frame.deliver(id, ok, text, at);
    const start = parse(text) as StartText;
    return frame.start(main, { sites: start.sites, args: args!, deps: deps!, at }, start);
  };
  return (callTool, callCapability, begin, finish, decide, print, succeed, fail, randoms) => {
    stripRealm();
    native.callTool = callTool;
    native.callCapability = callCapability;
    native.begin = begin;
    native.finish = finish;
    native.decide = decide;
    native.print = print;
    native.succeed = succeed;
    native.fail = fail;
    native.randoms = randoms;
    return enter;
  };
}

/** Replaces the clock and random source of a fresh realm by those of the run. Runs in the realm itself. */
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

/**
 * Removes what compiles to machine code, shares memory, tells the time or observes the garbage collector. V8
 * adds some of these to every realm it makes from a snapshot, so this runs after that, in the realm itself.
 */
export function stripRealm(): void {
  const { deleteProperty } = Reflect;
  deleteProperty(globalThis, 'WebAssembly');
  deleteProperty(globalThis, 'SharedArrayBuffer');
  deleteProperty(globalThis, 'Atomics');
  deleteProperty(globalThis, 'FinalizationRegistry');
  deleteProperty(globalThis, 'WeakRef');
  deleteProperty(globalThis, 'Temporal');
  deleteProperty(globalThis, 'console');
  deleteProperty(Date.prototype, 'toTemporalInstant');
}
