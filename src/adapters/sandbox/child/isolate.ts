import { createRequire } from 'node:module';
import type Ivm from 'isolated-vm';
import { createGuestCalls } from '../../../engine/guest/guest-calls.ts';
import { createGuestConsole, createShowValue } from '../../../engine/guest/guest-console.ts';
import { createGuestDate, createGuestFrame } from '../../../engine/guest/guest-frame.ts';
import { createGuestHooks } from '../../../engine/guest/guest-hooks.ts';
import { captureIntrinsics } from '../../../engine/guest/intrinsics.ts';
import { createToJson } from '../../../engine/guest/to-json.ts';
import {
  type EnterGuest,
  type InstallGuest,
  lockRealm,
  prepareGuest,
  type RealmNative,
  stripRealm,
} from './install-guest.ts';

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
