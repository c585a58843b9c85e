import type { HostileCase } from '../hostile-case.ts';

/** Uses everything of the bridge: arguments, results, errors, the console, a capability. */
const USE = `
const got = [];
got.push(await mcp.a.b({ x: 1, list: [1, { y: 'z' }] }));
try { await mcp.a.fail(); got.push('no error'); } catch (e) { got.push(e.name + ' ' + e.code + ' ' + e.tool); }
got[2] = await capabilities.sound({ list: [3, 1, 2] });
console.log('printed', { a: 1 });
return got;`;

/** A capability that relies on the language being what it is. */
const SOUND = `
const sorted = [...args.list].sort((a, b) => a - b).map((x) => x * 2).join();
const all = await Promise.all([mcp.a.b({ sorted }), 1]);
return [sorted, JSON.parse(JSON.stringify({ k: all[0].sorted })).k, Object.keys({ a: 1 }).length, new Map([[1, 2]]).get(1)];`;

const EXPECTED = {
  calls: [
    [0, 'a:b', { x: 1, list: [1, { y: 'z' }] }],
    [0, 'a:fail', {}],
    [1, 'a:b', { sorted: '2,4,6' }],
  ],
  value: [{ x: 1, list: [1, { y: 'z' }] }, 'ToolError tool_failed a:fail', ['2,4,6', '2,4,6', 1, 2]],
} as const;

const pollution = (name: string, bitesOnVm: boolean, code: string): HostileCase => ({
  name: `${name}, bent`,
  bitesOnVm,
  code: `${code}\n${USE}`,
  capabilities: { sound: SOUND },
  canary: { kind: 'truth', ...EXPECTED },
});

/** Replaces every function of `home` by one that throws, but for those the attack itself needs. */
const breakAll = (home: string, but: string) =>
  `for (const key of Reflect.ownKeys(${home})) { if (![${but}].includes(key) && typeof Reflect.getOwnPropertyDescriptor(${home}, key).value === 'function') { try { Reflect.defineProperty(${home}, key, { value() { throw new Error('bent ' + String(key)); } }); } catch {} } }`;

export const POLLUTION: readonly HostileCase[] = [
  pollution(
    'setters on Object.prototype',
    false,
    "for (const key of ['id', 'ok', 'text', 'resolve', 'reject', 'origin', 'label', 'stack', 'length', 'next', 'frame', 'call', 'type', 'sorted', 'k']) Object.defineProperty(Object.prototype, key, { set(v) { throw new Error('caught ' + key); }, get() { return 'bent'; }, configurable: true });",
  ),
  pollution(
    'descriptors through Object.prototype',
    false,
    "Object.prototype.get = () => 'bent'; Object.prototype.set = () => {}; Object.prototype.enumerable = true; Object.prototype.value = 'bent';",
  ),
  pollution(
    'handlers through Object.prototype',
    false,
    "for (const trap of ['has', 'ownKeys', 'apply', 'construct', 'getOwnPropertyDescriptor', 'getPrototypeOf']) Object.prototype[trap] = () => { throw new Error('trapped'); };",
  ),
  pollution('Object.prototype.toJSON', true, "Object.prototype.toJSON = () => 'bent';"),
  pollution(
    'toJSON of arrays, strings and numbers',
    true,
    "for (const C of [Array, String, Number, Boolean]) C.prototype.toJSON = () => 'bent';",
  ),
  pollution(
    'Object.prototype.then',
    true,
    "Object.defineProperty(Object.prototype, 'then', { value: undefined, writable: true, configurable: true }); globalThis.Promise = { all: async () => [{ sorted: 'bent' }] };",
  ),
  pollution('JSON', true, "JSON.stringify = () => '\"bent\"'; JSON.parse = () => 'bent';"),
  pollution('Reflect', false, breakAll('Reflect', "'ownKeys', 'defineProperty', 'getOwnPropertyDescriptor'")),
  pollution('functions of Object', true, breakAll('Object', "'defineProperty'")),
  pollution(
    'call, apply and bind',
    false,
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error('bent'); };",
  ),
  pollution(
    'Function.prototype',
    false,
    "Object.setPrototypeOf(Function.prototype, new Proxy({}, { get: () => 'bent' }));",
  ),
  pollution('methods of arrays', true, breakAll('Array.prototype', "'push', 'includes'")),
  pollution(
    'indices of Array.prototype',
    false,
    "for (let i = 3; i < 10; i++) Object.defineProperty(Array.prototype, i, { set(v) { throw new Error('caught'); }, get: () => 'bent', configurable: true }); Object.defineProperty(Array.prototype, '0', { set() { throw new Error('caught'); }, configurable: true }); Array.prototype.push = function (x) { Object.defineProperty(this, this.length, { value: x, enumerable: true, writable: true, configurable: true }); };",
  ),
  pollution(
    'iterators',
    true,
    "Array.prototype[Symbol.iterator] = function* () { yield 'bent'; }; Object.getPrototypeOf([].keys()).next = () => ({ done: true });",
  ),
  pollution('methods of strings', false, breakAll('String.prototype', '')),
  pollution('Promise.prototype.then', true, "Promise.prototype.then = () => { throw new Error('bent'); };"),
  pollution(
    'Promise.prototype.constructor',
    true,
    "Promise.prototype.constructor = class { constructor() { throw new Error('bent'); } }; Promise.all = () => 'bent'; Promise.resolve = () => 'bent';",
  ),
  pollution(
    'Promise[Symbol.species]',
    true,
    "Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('bent'); } }); Promise.all = () => { throw new Error('bent'); };",
  ),
  pollution(
    'maps and sets',
    true,
    `${breakAll('Map.prototype', '')} ${breakAll('Set.prototype', '')} ${breakAll('WeakMap.prototype', '')}`,
  ),
  pollution(
    'errors',
    false,
    "Error.captureStackTrace = () => { throw new Error('bent'); }; Error.prepareStackTrace = () => { throw 1; }; Error.stackTraceLimit = 0; globalThis.Error = globalThis.TypeError = function () { return 'bent'; };",
  ),
  pollution(
    'regular expressions',
    false,
    "RegExp.prototype.exec = () => { throw new Error('bent'); }; RegExp.prototype.test = () => true; Object.defineProperty(RegExp.prototype, 'flags', { get() { throw 1; } });",
  ),
  pollution(
    'all globals',
    true,
    "for (const name of ['Object', 'Array', 'String', 'Number', 'Map', 'Set', 'Promise', 'Proxy', 'Reflect', 'Symbol', 'JSON', 'Math', 'Date', 'Error', 'TypeError', 'Function']) globalThis[name] = undefined;",
  ),
];
