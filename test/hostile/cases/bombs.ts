import type { HostileCase } from '../hostile-case.ts';

/** Must be ended by a limit. */
const bomb = (name: string, code: string, capabilities?: Record<string, string>): HostileCase => ({
  name,
  code,
  ...(capabilities && { capabilities }),
  canary: { kind: 'ended', by: 'limit' },
  bitesOnVm: true,
});

/** Must end, by a limit or by an error of its own that the engine throws at it. */
const dud = (name: string, bitesOnVm: boolean, code: string): HostileCase => ({
  name,
  code,
  canary: { kind: 'ended', by: 'any' },
  bitesOnVm,
});

/** May return, but not much may come back. */
const flood = (name: string, bitesOnVm: boolean, code: string): HostileCase => ({
  name,
  code,
  canary: { kind: 'bounded' },
  bitesOnVm,
});

const CPU: readonly HostileCase[] = [
  bomb('a loop', 'for (;;);'),
  bomb('a loop that catches everything', 'for (;;) { try { for (;;) null.x; } catch {} }'),
  bomb('a loop that cannot be left', 'for (;;) { try { return 1; } finally { continue; } }'),
  bomb('a loop after a call', 'await mcp.a.b(); for (;;);'),
  bomb('a loop in a capability', "await capabilities.loop(); return 'survived';", { loop: 'for (;;);' }),
  bomb('promises without end', 'const again = () => Promise.resolve().then(again); await again();'),
  bomb('await without end', 'for (;;) await null;'),
  bomb(
    'an async generator without end',
    'async function* all() { for (;;) yield 1; } for await (const x of all());',
  ),
  bomb('thenables without end', 'const next = () => ({ then(resolve) { resolve(next()); } }); await next();'),
  bomb('a regular expression', "/^(a+)+$/.test('a'.repeat(40) + '!');"),
  bomb('another regular expression', "'x'.repeat(30000).replace(/(x+x+)+y/g, '');"),
  bomb('big integers multiplied', 'let x = 3n; for (let i = 0; i < 25; i++) x *= x; for (;;) x * x;'),
  bomb('a big integer as text', 'const x = 7n ** 400000n; for (;;) x.toString();'),
  bomb(
    'sorting that never agrees',
    'for (;;) Array.from({ length: 1e5 }, (_, i) => i).sort(() => Math.random() - 0.5);',
  ),
  bomb('joining holes', 'for (;;) new Array(2 ** 24).join();'),
  bomb('a getter in the result', 'return { get x() { for (;;); } };'),
  bomb('a proxy in the result', 'return new Proxy({}, { ownKeys() { for (;;); } });'),
  bomb('toJSON in the result', 'return new (class { toJSON() { for (;;); } })();'),
  bomb('a getter in the arguments', 'await mcp.a.b({ get x() { for (;;); } });'),
  bomb('a getter on what is thrown', 'throw { get message() { for (;;); } };'),
  bomb('a getter on what is printed', 'console.log({ get x() { for (;;); } });'),
  bomb('a key that takes forever', 'await mcp[{ toString() { for (;;); } }].b();'),
  bomb(
    'spreading what never ends',
    'const all = { *[Symbol.iterator]() { for (;;) yield 1; } }; const list = [...all];',
  ),
  dud('recursion', false, 'const dive = (n) => dive(n + 1) + 1; return dive(0);'),
  dud(
    'recursion in a getter of the result',
    false,
    'const deep = {}; Object.defineProperty(deep, "x", { enumerable: true, get: () => ({ get x() { return deep; }, y: deep }) }); return deep;',
  ),
  bomb('recursion that catches itself', 'const dive = () => { try { dive(); } catch { dive(); } }; dive();'),
];

const MEMORY: readonly HostileCase[] = [
  bomb('arrays', 'const all = []; for (;;) all.push(new Array(1000).fill(1));'),
  bomb('arrays in arrays', 'let all = []; for (;;) all = [all, all, all, [1, 2, 3]];'),
  bomb('objects', 'const all = []; for (let i = 0; ; i++) all.push({ i, next: all });'),
  bomb('strings', "const all = []; for (let i = 0; ; i++) all.push(('x' + i).repeat(1000) + i);"),
  dud('one string', false, "let text = 'x'; for (;;) text += text;"),
  bomb(
    'strings that are not flat',
    "const all = []; let text = 'x'; for (let i = 0; ; i++) { text = text.slice(-1000) + i; all.push(text + text); }",
  ),
  bomb('a map', 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });'),
  bomb('a set', "const all = new Set(); for (let i = 0; ; i++) all.add('key' + i);"),
  bomb(
    'a weak map',
    'const all = new WeakMap(); const keys = []; for (;;) { const key = {}; keys.push(key); all.set(key, new Array(10)); }',
  ),
  bomb('array buffers', 'const all = []; for (;;) all.push(new ArrayBuffer(1e6));'),
  bomb(
    'array buffers, insisting',
    'const all = []; for (;;) { try { all.push(new Uint8Array(1e5).fill(1)); } catch {} }',
  ),
  dud(
    'an array buffer that grows',
    true,
    'const all = []; for (;;) { const b = new ArrayBuffer(1, { maxByteLength: 1e7 }); b.resize(1e7); all.push(b); }',
  ),
  bomb('typed arrays', 'const all = []; for (;;) all.push(new Float64Array(1e4).fill(1.5));'),
  bomb('big integers', 'const all = []; for (let i = 1n; ; i++) all.push(3n ** 10000n + i);'),
  bomb(
    'promises nobody settles',
    'const all = []; for (;;) { all.push(new Promise(() => {})); await null; }',
  ),
  bomb('nested promises', 'let p = Promise.resolve(); for (;;) p = p.then(() => p);'),
  bomb(
    'closures',
    'const all = []; for (let i = 0; ; i++) { const own = new Array(100).fill(i); all.push(() => own); }',
  ),
  bomb(
    'errors with their stacks',
    'const all = []; Error.stackTraceLimit = 200; const make = (n) => (n ? make(n - 1) : new Error("x".repeat(100))); for (;;) { const e = make(100); void e.stack; all.push(e); }',
  ),
  bomb('symbols', "const all = []; for (let i = 0; ; i++) all.push(Symbol('name' + i));"),
  bomb('properties', "const all = {}; for (let i = 0; ; i++) all['key' + i] = i;"),
  bomb(
    'functions made of text',
    "const all = []; for (let i = 0; ; i++) all.push(Function('return ' + i + '/*' + 'x'.repeat(500) + '*/'));",
  ),
  bomb(
    'generators',
    'const all = []; function* g() { const own = new Array(100).fill(1); yield own; } for (;;) { const it = g(); it.next(); all.push(it); }',
  ),
  dud('a sparse array filled', true, 'return new Array(2 ** 28).fill(0).length;'),
  bomb(
    'JSON parsed over and over',
    'const text = JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ i }))); const all = []; for (;;) all.push(JSON.parse(text));',
  ),
  bomb(
    'memory in many capabilities',
    'const all = await Promise.all(Array.from({ length: 20 }, () => capabilities.hog())); return all;',
    {
      hog: 'globalThis.all = Array.from({ length: 3e5 }, (_, i) => ({ i })); await mcp.a.slow(); return all.length;',
    },
  ),
];

const OUTPUT: readonly HostileCase[] = [
  flood(
    'the console',
    true,
    "for (let i = 0; i < 3e4; i++) console.log('line', i, 'x'.repeat(50)); return 1;",
  ),
  flood('one line on the console', true, "console.log('x'.repeat(1e6)); return 1;"),
  flood(
    'a large object on the console',
    true,
    'console.log(Array.from({ length: 1e4 }, (_, i) => ({ i, text: "x".repeat(100) }))); return 1;',
  ),
  flood('empty lines on the console', true, 'for (let i = 0; i < 5e4; i++) console.log(); return 1;'),
  bomb('a large result', "return 'x'.repeat(1e6);"),
  bomb(
    'a result that is large when written out',
    'let shared = ["x"]; for (let i = 0; i < 30; i++) shared = [shared, shared]; return shared;',
  ),
  bomb('a result of holes', 'return new Array(2 ** 31);'),
  flood('a large message thrown', true, "throw new Error('x'.repeat(1e6));"),
  flood('a large name thrown', true, "throw Object.assign(new Error('x'), { name: 'x'.repeat(1e6) });"),
  flood('a large value thrown', false, "throw { text: 'x'.repeat(1e6), list: new Array(1e5).fill('x') };"),
  flood(
    'a large stack thrown',
    true,
    "throw Object.assign(new Error('x'), { stack: ('at x\\n').repeat(1e5), message: 'y'.repeat(1e5) });",
  ),
  flood(
    'large arguments',
    true,
    "try { return (await mcp.a.b({ text: 'x'.repeat(1e6) })).text; } catch (e) { return e.code; }",
  ),
  flood(
    'a large name of a tool',
    true,
    "try { await mcp['x'.repeat(1e6)].b(); } catch (e) { return e.message; }",
  ),
  bomb('calls without waiting', 'for (;;) mcp.a.b();'),
  bomb('calls that catch their limit', 'for (;;) { try { await mcp.a.b(); } catch {} }'),
  bomb(
    'a hundred thousand calls at once',
    "await Promise.allSettled(Array.from({ length: 1e5 }, () => mcp.a.b())); return 'survived';",
  ),
  bomb('a capability that calls itself', 'return await capabilities.self();', {
    self: 'return await capabilities.self();',
  }),
  bomb('a capability that calls itself twice', 'return await capabilities.self();', {
    self: 'return await Promise.all([capabilities.self(), capabilities.self()]);',
  }),
];

export const BOMBS: readonly HostileCase[] = [...CPU, ...MEMORY, ...OUTPUT];
