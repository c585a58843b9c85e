import type { HostileCase } from '../hostile-case.ts';

/** `loot(F)`: whether a function made by `F` sees a process, or a way to load modules. */
const LOOT = `
const loot = (F) => {
  try {
    const text = "return typeof process === 'object' && process ? 'process ' + process.pid : typeof require === 'function' ? 'require' : null";
    const found = F(text)();
    return typeof found === 'string' ? found : null;
  } catch { return null; }
};
const first = (...tries) => { for (const get of tries) { try { const got = get(); if (got) return got; } catch {} } return null; };
`;

const breakout = (name: string, bitesOnVm: boolean, code: string): HostileCase => ({
  name,
  bitesOnVm,
  code: `${LOOT}${code}`,
  canary: { kind: 'loot' },
});

/** What a stack or a message would show of the host. */
const HOST_TEXT = String.raw`/node:|file:\/\/|\/src\/|\/test\/|\/dist\/|node_modules/`;

export const ESCAPES: readonly HostileCase[] = [
  breakout('constructor of the global object', true, 'return loot(globalThis.constructor.constructor);'),
  breakout('constructor of a tool', true, 'return loot(mcp.a.b.constructor);'),
  breakout(
    'constructor of a namespace',
    true,
    'return first(() => loot(mcp.constructor.constructor), () => loot(Object.getPrototypeOf(mcp.a).constructor.constructor));',
  ),
  breakout('constructor of a capability', true, 'return loot(capabilities.some.constructor.constructor);'),
  breakout('constructor of console.log', true, 'return loot(console.log.constructor);'),
  breakout('constructor of the console', true, 'return loot(console.constructor.constructor);'),
  breakout('constructor of the arguments', true, 'return loot(args.constructor.constructor);'),
  breakout('constructor of a list in the arguments', true, 'return loot(args.list.constructor.constructor);'),
  breakout('constructor of a hook', true, 'return loot($pml.call.constructor);'),
  breakout('constructor of a call’s promise', true, 'return loot(mcp.a.b().constructor.constructor);'),
  breakout(
    'constructor of a tool’s result',
    true,
    'const result = await mcp.a.list(); return loot(result.constructor.constructor) ?? loot(result.list.constructor.constructor);',
  ),
  breakout(
    'constructor of a tool’s error',
    true,
    'try { await mcp.a.fail(); } catch (e) { return loot(e.constructor.constructor); }',
  ),
  breakout(
    'constructor of an error about arguments',
    true,
    'try { await mcp.a.b(Symbol()); } catch (e) { return loot(e.constructor.constructor); }',
  ),
  breakout(
    'constructor of the error of import()',
    true,
    "try { await import('node:fs'); return 'imported'; } catch (e) { return loot(e.constructor.constructor); }",
  ),
  breakout(
    'constructor of a stack overflow in a tool',
    true,
    'let got; const dive = () => { try { dive(); } catch { try { mcp.a.b.call(); } catch (e) { got ??= loot(e.constructor.constructor); } } }; try { dive(); } catch {} return got ?? loot(mcp.a.b.constructor);',
  ),
  breakout(
    'prototypes of everything given',
    true,
    `
    const protos = [mcp, capabilities, args, deps, console, $pml].flatMap((x) => { const all = []; for (let p = x; p; p = Object.getPrototypeOf(p)) all.push(p); return all; });
    return first(...protos.map((p) => () => loot(p.constructor.constructor)));`,
  ),
  breakout(
    'realm of a bound function through new.target',
    true,
    `
    const bound = Object.assign(console.log.bind(), { prototype: null });
    Object.defineProperty(bound, 'prototype', { value: null });
    const target = new Proxy(console.log, { get: (t, k) => (k === 'prototype' ? null : t[k]) });
    return first(
      () => loot(Object.getPrototypeOf(Reflect.construct(Array, [], bound)).constructor.constructor),
      () => loot(Object.getPrototypeOf(Reflect.construct(Array, [], target)).constructor.constructor),
      () => loot(console.log.constructor));`,
  ),
  breakout(
    'a walk over everything reachable',
    true,
    `
    const seen = new Set();
    const line = [globalThis, mcp, mcp.a, mcp.a.b, capabilities, capabilities.c, args, deps, console, $pml, mcp.a.b()];
    for (const value of line) {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || seen.size > 20000) continue;
      seen.add(value);
      if (typeof value === 'function') { const got = loot(value.constructor); if (got) return got; }
      let keys = [];
      try { keys = Reflect.ownKeys(value); line.push(Object.getPrototypeOf(value)); } catch {}
      for (const key of keys) { try { const d = Reflect.getOwnPropertyDescriptor(value, key); line.push(d.value, d.get, d.set); } catch {} }
    }
    return null;`,
  ),
  breakout(
    'names of the host’s world',
    true,
    `
    return ['process', 'require', 'module', 'global', 'Buffer', 'fetch', 'setTimeout', 'setImmediate', 'queueMicrotask', 'performance', 'structuredClone', 'navigator', 'crypto', 'Worker', 'MessageChannel', 'WebSocket', 'ShadowRealm', 'gc', 'ivm', 'console', '$pml', 'pmlInstall']
      .filter((name) => globalThis[name] !== undefined);`,
  ),
  breakout(
    'eval',
    false,
    "return first(() => (0, eval)('process.pid'), () => eval('require')('fs'), () => eval('this.process.pid'));",
  ),
  breakout(
    'Function',
    false,
    'return loot(Function) ?? loot(Object.getPrototypeOf(async () => {}).constructor) ?? loot(Object.getPrototypeOf(function* () {}).constructor);',
  ),
  breakout(
    'AsyncFunction',
    false,
    'return await Object.getPrototypeOf(async () => {}).constructor(\'return typeof process === "object" && process.pid\')().catch(() => null);',
  ),
  breakout(
    'AsyncGeneratorFunction',
    false,
    'const G = Object.getPrototypeOf(async function* () {}).constructor; for await (const x of G(\'yield typeof process === "object" && process.pid\')()) return x;',
  ),
  breakout(
    'import()',
    false,
    "for (const name of ['node:fs', 'fs', 'node:child_process', 'file:///etc/passwd', 'data:text/javascript,export default 1']) { try { return String(await import(name)); } catch {} }",
  ),
  breakout(
    'import() out of eval',
    false,
    'for (const make of [() => (0, eval)(\'import("node:fs")\'), () => Function(\'return import("node:fs")\')()]) { try { return String(await make()); } catch {} }',
  ),
  breakout(
    'import.meta',
    false,
    "return first(() => (0, eval)('import.meta.url'), () => Function('return import.meta.dirname')());",
  ),
  breakout(
    'natives syntax',
    false,
    "return first(() => (0, eval)('%GetOptimizationStatus(loot)') + 'native', () => Function('%DebugTrace()')() + 'native');",
  ),
  breakout('sloppy this', true, "return loot(Function('return this')().constructor.constructor);"),
  breakout(
    'caller of a getter',
    true,
    `
    let got = null;
    const spy = { get x() { got = first(() => loot(Function('return arguments.callee.caller.constructor')()), () => new Error().stack.match(${HOST_TEXT})[0]); return 1; } };
    await mcp.a.b(spy);
    console.log(spy);
    return got;`,
  ),
  breakout(
    'callee.caller of a callback',
    false,
    "let got = null; const spy = Function('loot', 'return function spy() { const c = spy.caller; return c && loot(c.constructor); }')(loot); $pml.call(0, [1], 'map', [() => { got = spy(); }]); return got;",
  ),
  breakout(
    'Error.prepareStackTrace with call sites',
    true,
    `
    Error.prepareStackTrace = (_, sites) => sites;
    const sites = [new Error().stack, await mcp.a.fail().catch((e) => e.stack)].flat().filter((s) => s && typeof s === 'object');
    return first(...sites.flatMap((s) => [() => loot(s.getFunction().constructor), () => loot(s.getThis().constructor.constructor), () => s.getFileName().match(${HOST_TEXT})[0]]));`,
  ),
  breakout(
    'Error.prepareStackTrace called with the host’s error',
    true,
    `
    let got = null;
    Error.prepareStackTrace = (error, sites) => { got ??= loot(error.constructor.constructor) ?? loot(sites.constructor.constructor); return ''; };
    try { null.x; } catch (e) { void e.stack; }
    try { await mcp.a.fail(); } catch (e) { void e.stack; got ??= loot(e.constructor.constructor); }
    return got;`,
  ),
  breakout(
    'paths of the host in a stack',
    true,
    `
    const stacks = [new Error().stack];
    const holder = {}; Error.stackTraceLimit = 100; Error.captureStackTrace(holder); stacks.push(holder.stack);
    await mcp.a.fail().catch((e) => stacks.push(e.stack));
    await mcp.a.b({ get x() { stacks.push(new Error().stack); return 1; } });
    return stacks.join().match(${HOST_TEXT})?.[0] ?? null;`,
  ),
  breakout(
    'a proxy as arguments',
    true,
    `
    let got = null;
    let isBusy = false;
    const look = (...all) => { for (const x of all) got ??= first(() => loot(x.constructor), () => loot(x.constructor.constructor)); };
    const handler = new Proxy({}, { get: (_, trap) => (...all) => { if (!isBusy) { isBusy = true; look(...all, new Error()); got ??= new Error().stack.match(${HOST_TEXT})?.[0]; isBusy = false; } return Reflect[trap](...all); } });
    await mcp.a.b(new Proxy({ x: 1 }, handler)).catch(() => {});
    console.log(new Proxy({ x: 1 }, handler));
    return got;`,
  ),
  breakout(
    'a proxy returned',
    true,
    `
    return new Proxy({}, {
      ownKeys: () => ['x'],
      getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
      get: (_, key) => (key === 'x' ? new Error().stack.match(${HOST_TEXT})?.[0] ?? null : undefined),
    });`,
  ),
  breakout(
    'a proxy thrown',
    false,
    `throw new Proxy(class {}, { get(_, key) { const at = new Error().stack.match(${HOST_TEXT}); return at ? 'message from ' + at[0] : undefined; }, getPrototypeOf() { throw 1; } });`,
  ),
  breakout(
    'getters on a thrown error',
    false,
    `const e = new Error('x'); for (const key of ['name', 'message', 'stack']) Object.defineProperty(e, key, { get() { return loot(Object.getPrototypeOf(new.target ?? (() => {})).constructor) ?? 'x'; } }); throw e;`,
  ),
  breakout(
    'toJSON with what it is called with',
    false,
    'let got = null; await mcp.a.b({ x: { toJSON(...all) { got = first(...all.map((x) => () => loot(x.constructor.constructor)), () => loot(this.constructor.constructor)); return 1; } } }).catch(() => {}); return got;',
  ),
  breakout(
    'Symbol.toPrimitive as a tool’s name',
    false,
    "let got = null; const name = { [Symbol.toPrimitive](hint) { got = loot(hint.constructor.constructor); return 'b'; } }; await mcp.a[name]({}); return got;",
  ),
  breakout(
    'Symbol.species of a promise',
    true,
    `
    let got = null;
    class Spy extends Promise { static get [Symbol.species]() { return function (executor) { got ??= loot(executor.constructor); return new Promise(executor); }; } }
    Object.defineProperty(Promise.prototype, 'constructor', { value: Spy, configurable: true });
    await mcp.a.b(); await new Promise((r) => r(1)).then(() => 1);
    return got ?? loot(mcp.a.b().constructor.constructor);`,
  ),
  breakout(
    'Symbol.hasInstance',
    false,
    'let got = null; for (const C of [Error, Promise, Array, Object]) Object.defineProperty(C, Symbol.hasInstance, { value: (x) => { got ??= loot(x?.constructor?.constructor ?? Object); return true; } }); await mcp.a.b({ e: new Error() }); await mcp.a.fail().catch(() => {}); return got;',
  ),
  breakout(
    'Symbol.iterator of an array',
    false,
    'let got = null; const arrays = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function (...all) { got ??= loot(this.constructor.constructor) ?? this.map((x) => loot(x?.constructor ?? Object)).find(Boolean); return arrays.apply(this, all); }; await mcp.a.b({ list: [1] }); console.log([1]); $pml.call(0, [1], "map", [(x) => x]); return got;',
  ),
  breakout(
    'a thenable returned',
    false,
    'return { then(resolve, reject) { resolve(loot(resolve.constructor) ?? loot(reject.constructor)); } };',
  ),
  breakout(
    'a thenable as arguments',
    false,
    'let got = null; await mcp.a.b({ then(resolve) { got = loot(resolve.constructor); resolve({}); } }).catch(() => {}); return got;',
  ),
  breakout(
    'Object.prototype.then',
    true,
    'let got = null; Object.prototype.then = function (resolve) { delete Object.prototype.then; got ??= loot(resolve?.constructor) ?? loot(this.constructor.constructor); resolve(this); }; try { got ??= loot((await mcp.a.list()).constructor.constructor); } finally { delete Object.prototype.then; } return got;',
  ),
  breakout(
    'async iterators',
    false,
    "let got = null; await mcp.a.b({ list: { async *[Symbol.asyncIterator]() { got = loot((yield 1).constructor.constructor); } } }).catch(() => {}); try { for await (const x of mcp.a) got ??= x; } catch {} try { got ??= (await Array.fromAsync(mcp)).length ? 'fromAsync' : null; } catch {} return got;",
  ),
  breakout(
    'a generator’s prototype',
    false,
    'function* g() { yield; } const it = g(); return loot(Object.getPrototypeOf(Object.getPrototypeOf(it)).constructor.constructor);',
  ),
  breakout(
    'WebAssembly',
    true,
    "return typeof WebAssembly === 'object' && new WebAssembly.Memory({ initial: 1 }) ? 'machine code' : null;",
  ),
  breakout(
    'SharedArrayBuffer',
    true,
    "return typeof SharedArrayBuffer === 'function' && new SharedArrayBuffer(8) ? 'shared memory' : null;",
  ),
  breakout('Atomics.wait', true, "return typeof Atomics === 'object' ? 'Atomics' : null;"),
  breakout(
    'the garbage collector',
    true,
    "return typeof WeakRef === 'function' || typeof FinalizationRegistry === 'function' ? 'sees the collector' : null;",
  ),
  breakout(
    'time by Date',
    true,
    'const before = Date.now(); for (let i = 0; i < 3e6; i++) Math.sqrt(i); return Date.now() !== before || new Date().getTime() !== before || Date() !== new Date(before).toString();',
  ),
  breakout(
    'time by Date through a constructor',
    true,
    "const D = new Date(0).constructor; const before = D.now(); return Math.abs(before - args.now) > 1000 || Math.abs(new D().getTime() - args.now) > 1000 ? 'the true date' : null;",
  ),
  breakout(
    'time by Intl',
    true,
    "const year = new Intl.DateTimeFormat('en', { year: 'numeric', timeZone: 'UTC' }); const parts = year.formatToParts().find((p) => p.type === 'year').value; const guest = new Date(args.now).getUTCFullYear(); return Number(year.format()) !== guest || Number(parts) !== guest;",
  ),
  breakout(
    'time by Temporal',
    true,
    "return typeof Temporal === 'object' ? Temporal.Now.instant().toString() : new Date(0).toTemporalInstant ? 'toTemporalInstant' : null;",
  ),
  breakout(
    'chance that is not the seed’s',
    true,
    "const numbers = [Math.random(), Math.random()].join(); return numbers === args.randoms ? null : 'unseeded ' + numbers;",
  ),
  breakout(
    'statics of RegExp',
    false,
    "/(x)/.exec('x'); await mcp.a.b({ key: 1 }); console.log({ key: 1 }); return ['input', 'lastMatch', '$1', 'leftContext'].map((k) => RegExp[k]).find((t) => t.match(/process|frame|token|tool/)) ?? null;",
  ),
  breakout(
    'the environment',
    true,
    "const F = mcp.a.b.constructor; return first(() => F('return JSON.stringify(process.env)')(), () => F('return process.argv.join()')(), () => F('return process.cwd()')());",
  ),
  breakout(
    'a file',
    true,
    "const F = mcp.a.b.constructor; return first(() => F(\"return process.getBuiltinModule('node:fs').readFileSync('/etc/hostname', 'utf8')\")(), () => F(\"return process.binding('fs')\")() && 'binding');",
  ),
  breakout(
    'the host’s channel',
    true,
    "const F = mcp.a.b.constructor; return first(() => F('return typeof process.send')() === 'function' && 'process.send', () => typeof F('return process.stdout.write')() === 'function' && 'stdout', () => typeof postMessage === 'function' && 'postMessage', () => typeof onmessage !== 'undefined' && 'onmessage');",
  ),
];
