import { createRequire } from 'node:module';
import type Ivm from 'isolated-vm';
import { createGuestCalls } from '../../../engine/guest/guest-calls.ts';
import { createGuestConsole, createShowValue } from '../../../engine/guest/guest-console.ts';
import {
  createGuestDate,
  createGuestFrame,
  type FrameNative,
  type FrameSizes,
} from '../../../engine/guest/guest-frame.ts';
import { createGuestHooks, type SiteNames } from '../../../engine/guest/guest-hooks.ts';
import { captureIntrinsics } from '../../../engine/guest/intrinsics.ts';
import { createToJson } from '../../../engine/guest/to-json.ts';

/** Every function of the guest's side. Each uses only its arguments and the other functions, by name. */
const PARTS = [
  captureIntrinsics,
  createToJson,
  createShowValue,
  createGuestDate,
  createGuestCalls,
  createGuestConsole,
  createGuestHooks,
  createGuestFrame,
  lockRealm,
  stripRealm,
  prepareGuest,
];

/** The global through which a fresh realm hands over its `InstallGuest`. */
const INSTALL = 'pmlInstall';

/** Runs once in every realm. In strict mode, so that no callee can walk the stack. */
const GUEST_SOURCE = `globalThis.${INSTALL} = (() => {
'use strict';
${PARTS.join('\n')}
return prepareGuest();
})();`;

/** A program that uses every function once, so that the snapshot contains their compiled code. */
const WARM_UP = `{
const told = () => true;
const none = () => undefined;
const enter = ${INSTALL}(none, none, told, none, told, told, none, none, () => [0.5]);
const main = async (mcp, capabilities, args, deps, console, $pml) => {
  console.log('text', { list: [args, deps] }, Math.random(), new Date());
  $pml.test(0, true);
  $pml.call(1, [1], 'map', [(x) => x]);
  await mcp.server.tool({ text: 'a', list: [1, true, null] });
  try {
    await capabilities.name();
  } catch {}
  return { text: 'a', list: [1, true, null] };
};
const sizes = { maxArguments: 1e6, maxResult: 1e6, maxConsole: 1e6, maxMarksPerSite: 1e6 };
enter(main, 0, true, JSON.stringify({ sites: [null, 'map'], ...sizes }), 0, '{}', '{}');
enter(undefined, 0, true, '{}', 0);
enter(undefined, 1, false, '{"name":"ToolError","code":"x","message":"x"}', 0);
}`;

type ReferenceTo<T> = Ivm.Reference<T>;

/** A context for one program, with its own `Array` and `Promise`; programs share only the memory limit. */
export interface Realm {
  readonly context: Ivm.Context;
  readonly enter: ReferenceTo<EnterGuest>;
  bind(native: RealmNative): void;
}

export interface GuestIsolate {
  readonly memoryMb: number;
  readonly isolate: Ivm.Isolate;
  /** Returns a realm that no program has used. */
  takeRealm(): Realm;
  /** Creates realms until `count` are ready. */
  prepareRealms(count: number): void;
  /** Evaluates the program's script in its realm. */
  evaluate(realm: Realm, script: string, name: string): ReferenceTo<unknown>;
}

export type MakeIsolate = (memoryMb: number) => GuestIsolate;

/** Takes the module's path, because the permission model forbids module lookup. */
export function loadIsolates(modulePath: string): MakeIsolate {
  const ivm = createRequire(import.meta.url)(modulePath) as typeof Ivm;
  // A realm made from a snapshot is ready twice as fast as one that runs the source.
  const snapshot = ivm.Isolate.createSnapshot([{ code: GUEST_SOURCE, filename: 'pml:guest' }], WARM_UP);
  return (memoryMb) => {
    const isolate = new ivm.Isolate({ memoryLimit: memoryMb, snapshot });
    const scripts = new Map<string, Ivm.Script>();
    const ready: Realm[] = [];

    const makeRealm = (): Realm => {
      const context = isolate.createContextSync();
      let native: RealmNative | undefined;
      const install = context.global.getSync(INSTALL, { reference: true }) as ReferenceTo<InstallGuest>;
      context.global.deleteSync(INSTALL);
      const natives: Parameters<InstallGuest> = [
        (id, server, tool, args) => native!.callTool(id, server, tool, args),
        (id, slug, args) => native!.callCapability(id, slug, args),
        (depth) => native!.begin(depth),
        (depth, site, success) => native!.finish(depth, site, success),
        (site, taken) => native!.decide(site, taken),
        (level, text) => native!.print(level, text),
        (text) => native!.succeed(text),
        (kind, name, message, stack) => native!.fail(kind, name, message, stack),
        () => native!.randoms(),
      ];
      const enter = install.applySync(undefined, natives, {
        result: { reference: true },
      }) as ReferenceTo<EnterGuest>;
      install.release();
      return {
        context,
        enter,
        bind(given) {
          native = given;
        },
      };
    };

    return {
      memoryMb,
      isolate,
      takeRealm: () => ready.pop() ?? makeRealm(),
      prepareRealms(count) {
        while (ready.length < count) ready.push(makeRealm());
      },
      evaluate({ context }, text, filename) {
        const key = `${filename}\n${text}`;
        const script = scripts.get(key) ?? isolate.compileScriptSync(text, { filename });
        scripts.set(key, script);
        return script.runSync(context, { reference: true }) as ReferenceTo<unknown>;
      },
    };
  };
}

/** The host functions a program's realm can call. */
export interface RealmNative extends FrameNative {
  /** The next random numbers. */
  randoms(): readonly number[];
}

/**
 * Starts the program when `main` is given, otherwise delivers an answer. One function, so that the child
 * holds only one reference.
 */
type EnterGuest = (
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
type InstallGuest = (
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
function prepareGuest(): InstallGuest {
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
function lockRealm(now: () => number, random: () => number): void {
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
function stripRealm(): void {
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
