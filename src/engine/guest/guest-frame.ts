import { type CallsNative, createGuestCalls } from './guest-calls.ts';
import { createGuestConsole, createShowValue, type Print } from './guest-console.ts';
import { createGuestHooks, type HooksNative, type SiteNames } from './guest-hooks.ts';
import { captureIntrinsics } from './intrinsics.ts';
import { createToJson } from './to-json.ts';

export interface FrameNative extends CallsNative, HooksNative {
  print: Print;
  /** The program ended; told once. */
  succeed(text: string): void;
  fail(kind: 'thrown' | 'no_data' | 'too_large', name: string, message: string, stack: string): void;
}

/** In UTF-16 units, of which a text in UTF-8 has at least as many bytes. */
export interface FrameSizes {
  readonly maxArguments: number;
  readonly maxResult: number;
  readonly maxConsole: number;
  readonly maxMarksPerSite: number;
}

export interface FrameInput {
  readonly sites: SiteNames;
  /** JSON. */
  readonly args: string;
  readonly deps: string;
  /** The guest's clock, in milliseconds since 1970. */
  readonly at: number;
}

export interface GuestFrame {
  /** What the guest's clock shows. */
  now(): number;
  /** `main` is what `GuestProgram.script` evaluates to. */
  start(main: unknown, input: FrameInput, sizes: FrameSizes): void;
  /** The answer to a call, at moment `at`. */
  deliver(id: number, ok: boolean, text: string, at: number): void;
}

/** One running program: what it is called with, and how its end is told. Made before the program is known. */
export function createGuestFrame(native: FrameNative): GuestFrame {
  const use = captureIntrinsics();
  const toJson = createToJson(use);
  const show = createShowValue(use);
  const { apply, parse, defineProperty } = use;
  let clock = 0;
  let deliver: (id: number, ok: boolean, text: string) => void = () => {};

  const fail = (thrown: unknown) => {
    const { name, message, stack } = show.thrown(thrown);
    native.fail('thrown', name, message, stack);
  };
  const end = (value: unknown, maxResult: number) => {
    try {
      const json = toJson(value, 'result', maxResult);
      if (json.ok) native.succeed(json.text);
      else native.fail(json.why, '', json.message, '');
    } catch (thrown) {
      fail(thrown);
    }
  };

  /** `await` asks a promise for its constructor, which a program may have bent, and then for nothing else. */
  const follow = async (running: unknown, maxResult: number) => {
    let value: unknown;
    try {
      const descriptor = { __proto__: null, value: use.Promise };
      defineProperty(running as object, 'constructor', descriptor as PropertyDescriptor);
      value = await running;
    } catch (thrown) {
      return fail(thrown);
    }
    return end(value, maxResult);
  };

  return {
    now: () => clock,
    start(main, { sites, args, deps, at }, sizes) {
      clock = at;
      const calls = createGuestCalls(use, native, toJson, sizes.maxArguments);
      const console = createGuestConsole(use, native.print, show, sizes.maxConsole);
      const hooks = createGuestHooks(use, native, sites, sizes.maxMarksPerSite);
      deliver = calls.deliver;
      const given = [calls.mcp, calls.capabilities, parse(args), parse(deps), console, hooks];
      try {
        if (typeof main !== 'function') throw new use.TypeError('The program is not a function');
        void follow(apply(main, undefined, given), sizes.maxResult);
      } catch (thrown) {
        fail(thrown);
      }
    },
    deliver(id, ok, text, at) {
      if (at > clock) clock = at;
      deliver(id, ok, text);
    },
  };
}

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
