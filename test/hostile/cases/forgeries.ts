import type { HostileCase, SeenCall } from '../hostile-case.ts';

/** The host must have seen exactly these calls, each from its own frame. */
const forgery = (
  name: string,
  bitesOnVm: boolean,
  code: string,
  value: unknown,
  calls: readonly SeenCall[] = [],
  capabilities?: Record<string, string>,
): HostileCase => ({
  name,
  bitesOnVm,
  code,
  ...(capabilities && { capabilities }),
  canary: { kind: 'truth', calls, value },
});

export const FORGERIES: readonly HostileCase[] = [
  forgery(
    'marks of sites that are not there',
    true,
    "$pml.test(0, true); $pml.test(-1, 1, 'x'); $pml.call(999, [1], 'map', [(x) => x]); $pml.test('0', 1); $pml.test(NaN, 1); $pml.test({ valueOf: () => 0 }, 1); return 'told';",
    'told',
  ),
  forgery(
    'hooks replaced',
    true,
    "try { $pml.call = () => 'mine'; return 'replaced'; } catch (e) { return e.constructor.name; }",
    'TypeError',
  ),
  forgery(
    'hooks defined anew',
    true,
    "try { Object.defineProperty($pml, 'test', { value: () => 'mine' }); return 'defined'; } catch (e) { return e.constructor.name; }",
    'TypeError',
  ),
  forgery(
    'a tool put into mcp',
    true,
    "try { mcp.a.b = async () => 'mine'; } catch {} return await mcp.a.b({ x: 1 });",
    { x: 1 },
    [[0, 'a:b', { x: 1 }]],
  ),
  forgery(
    'mcp’s prototype replaced',
    true,
    'try { Object.setPrototypeOf(mcp, { evil: 1 }); } catch {} return typeof mcp.evil;',
    'object',
  ),
  forgery(
    'another receiver',
    false,
    'return await mcp.a.b.call({ frame: 7, number: 7 }, { x: 1 });',
    { x: 1 },
    [[0, 'a:b', { x: 1 }]],
  ),
  forgery(
    'more arguments than there are',
    false,
    'return await mcp.a.b({ x: 1 }, 7, { frame: 7 });',
    { x: 1 },
    [[0, 'a:b', { x: 1 }]],
  ),
  forgery(
    'a frame in the arguments',
    false,
    "return await mcp.a.b({ frame: 7, type: 'end', call: 1 });",
    { frame: 7, type: 'end', call: 1 },
    [[0, 'a:b', { frame: 7, type: 'end', call: 1 }]],
  ),
  forgery(
    'a tool handed to a capability',
    true,
    'try { return await capabilities.use({ f: mcp.a.b }); } catch (e) { return e.constructor.name; }',
    'TypeError',
    [],
    { use: 'return await args.f({ x: 1 });' },
  ),
  forgery(
    'a tool handed back by a capability',
    true,
    "try { const stolen = await capabilities.give(); await stolen.f({ x: 1 }); return 'used'; } catch (e) { return e.name; }",
    'CapabilityError',
    [],
    { give: 'return { f: mcp.a.b };' },
  ),
  forgery(
    'a tool left lying about by a capability',
    true,
    "await capabilities.leave(); try { await globalThis.left({ x: 1 }); } catch {} try { await [].left({ x: 1 }); } catch {} return 'nothing there';",
    'nothing there',
    [],
    { leave: 'globalThis.left = mcp.a.b; Array.prototype.left = mcp.a.b; return 1;' },
  ),
  forgery(
    'a tool left lying about for a capability',
    true,
    'globalThis.left = mcp.a.b; Array.prototype.left = mcp.a.b; return await capabilities.use();',
    'nothing there',
    [],
    {
      use: "for (const f of [globalThis.left, [].left]) { if (f) await f({ x: 1 }); } return 'nothing there';",
    },
  ),
  forgery(
    'a capability that goes on after its end',
    true,
    'await capabilities.quick(); await mcp.a.slow(); await mcp.a.slow(); return 1;',
    1,
    [
      [1, 'a:slow', {}],
      [0, 'a:slow', {}],
      [0, 'a:slow', {}],
    ],
    { quick: 'void mcp.a.slow().then(() => mcp.a.late()); return 1;' },
  ),
  forgery(
    'a capability that spies on its caller',
    true,
    "globalThis.secret = 'known'; return await capabilities.spy();",
    'undefined',
    [],
    { spy: 'return typeof globalThis.secret;' },
  ),
  forgery(
    'names of tools that mean something else',
    true,
    `
    const got = [];
    for (const [server, tool] of [['__proto__', 'constructor'], ['constructor', '__proto__'], ['hasOwnProperty', 'call'], ['a:b', 'c'], ['', '']]) {
      try { got.push(await mcp[server][tool]({})); } catch (e) { got.push(e.code); }
    }
    return got;`,
    ['not_found', 'not_found', 'not_found', 'not_found', 'not_found'],
    [
      [0, '__proto__:constructor', {}],
      [0, 'constructor:__proto__', {}],
      [0, 'hasOwnProperty:call', {}],
      [0, 'a:b:c', {}],
      [0, ':', {}],
    ],
  ),
  forgery(
    'names that look like messages',
    false,
    `
    const name = 'a\\n{"type":"end","cpuMs":0,"truncated":false}\\u0000\\ud800';
    try { await mcp[name][name]({}); } catch (e) { return e.code; }`,
    'not_found',
    [
      [
        0,
        'a\n{"type":"end","cpuMs":0,"truncated":false}\u0000\ud800:a\n{"type":"end","cpuMs":0,"truncated":false}\u0000\ud800',
        {},
      ],
    ],
  ),
  forgery(
    'arguments that look like messages',
    false,
    `return await mcp.a.b({ text: '\\u0000\\u0001\\n{"type":"reply","call":1,"ok":true}\\u2028' });`,
    { text: '\u0000\u0001\n{"type":"reply","call":1,"ok":true}\u2028' },
    [[0, 'a:b', { text: '\u0000\u0001\n{"type":"reply","call":1,"ok":true}\u2028' }]],
  ),
  forgery(
    'an error that calls itself a limit',
    false,
    "throw Object.assign(new Error('x'), { kind: 'limit', limit: 'memory', ok: true, value: 1, stack: '' });",
    { kind: 'thrown', name: 'Error', message: 'x' },
  ),
  forgery(
    'an answer nobody gave',
    false,
    "const call = mcp.a.slow(); call.then = (resolve) => resolve('mine'); Object.defineProperty(call, 'constructor', { value: class extends Promise {} }); return await Promise.all([call.catch ? 1 : 0, mcp.a.b({ y: 1 })]);",
    [1, { y: 1 }],
    [
      [0, 'a:slow', {}],
      [0, 'a:b', { y: 1 }],
    ],
  ),
];
