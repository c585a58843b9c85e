import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { compile, runInVm } from '../../../../test/support/guest-in-vm.ts';
import { prepareProgram } from './prepare-program.ts';

/** The programs' input: `log` records the order of evaluation. */
function world() {
  const log: unknown[] = [];
  const note = (value: unknown) => {
    log.push(typeof value === 'function' ? 'function' : value);
    return value;
  };
  const odd = { filter: () => 'my own filter', map: 5 };
  const globals = {
    log: note,
    xs: [3, 1, 2],
    s: ' a-b ',
    no: null,
    odd,
    deep: { a: { b: ['x', 'y'] }, f: (x: unknown) => x },
  };
  return { log, globals };
}

async function plainly(source: string) {
  const { log, globals } = world();
  const script = `(async function () {"use strict"; return (async function () {${source}\n})(); })`;
  try {
    return { log, value: await compile(script, globals, 'plain.js')() };
  } catch (error) {
    return { log, error: nameOf(error) };
  }
}

async function prepared(source: string) {
  const program = prepareProgram(source);
  if (!program.ok) throw new Error(`${program.error.message}:\n${source}`);
  const { log, globals } = world();
  const { value, error } = await runInVm(program.value, { globals });
  return error === undefined ? { log, value } : { log, error: nameOf(error) };
}

/** Shows functions by their names, because a program can see the names. */
const show = (outcome: object) => inspect(outcome, { depth: 9, getters: true });
const nameOf = (error: unknown) => (error instanceof Error ? error.name : String(error));

const SNIPPETS = [
  // Receivers, arguments, spread
  'return xs.filter((x) => x > 1).map((x) => x * 2).reduce((a, b) => a + b, 0)',
  'return log(xs).concat(log([4]), ...log([[5], [6]]))',
  'return (await log(xs)).map(async (x) => await log(x)).length',
  'return xs.push(await log(4), await log(5)), xs',
  'return Math.max(...xs) + parseInt(s.trim().slice(0, 1), 16) + Number.parseFloat("1.5")',
  'return [..."ab"].map((c, i, all) => c + i + all.length).join("")',
  'return xs.sort().at(-1)',
  'const o = { filter(f) { return [this === o, f] } }; return o.filter(1)',
  'return odd.filter(() => log(1))',
  'return odd.map(log(1))',
  'class A extends Array { filter(f) { return super.filter(f).length } } return A.from([1, 2]).filter((x) => x > 1)',
  'const keys = Object.keys; return keys({ a: 1 })',
  'const Object = { keys: () => "mine" }; return Object.keys(1)',
  'const globalThis = {}; return parseInt("7")',
  // Missing receivers throw before their arguments are evaluated
  'return no.filter(log(1))',
  'return no.filter(await log(1))',
  'return deep.zz.push(log(1), log(2))',
  'return deep.a.nope(log(1))',
  // Optional chains
  'return no?.filter(log(1)).map(log(2)).length',
  'return log(no)?.filter(log(1)).map(log(2))',
  'return deep?.a?.b.map((x) => x + 1).join("-")?.length',
  'return deep.a?.["b"].map(log).length',
  'return deep.c?.["b"].map(log(1)).length',
  'return (await log(deep))?.a.b.filter((x) => x !== "x")[0].repeat(2)',
  'return deep?.a.zz?.map(log(1)).length',
  'return deep?.a.zz.map(log(1)).length',
  'return deep.f?.(xs).map((x) => x + 1)',
  'const f = deep.f; return f?.(xs)?.map((x) => log(x))?.[0]',
  'const f = no; return f?.(log(1)).map(log(2))',
  'return deep.a.b.map?.((x) => x)',
  'return (no?.filter(log(1))).map(log(2))',
  'return (deep?.a).b.map((x) => x)',
  'return typeof no?.map(log(1))',
  'const box = { a: { x: 1 } }; return [delete box?.a.x, delete box?.a.slice, delete no?.x.slice(1).y, box]',
  'function g() { return arguments.length } return g?.(...xs)?.toString().padStart(3, "0")',
  'return `${deep?.a.b.join("+")} ${no?.join(log(1))}`',
  'xs?.push(9)\nxs?.push(8)\nreturn xs',
  'let r = xs\nxs?.reverse()\n;[r] = [r]\nreturn r',
  'return xs?.map((x) => x) && xs?.filter((x) => x) || log(1)',
  'return [xs?.slice(1), no?.slice(1), ...(xs?.slice(2) ?? [])]',
  'class B extends (deep?.f.slice ?? Array) {} return new B(2).length',
  // Decisions
  'if (log(0), log(1)) return log(2); else return log(3)',
  'return log(0) ? log(1) : log(2) ? log(3) : log(4)',
  'return(log(0))?log(1):log(2)',
  'return typeof(xs).map((x) => x)',
  'log(0) && xs.push(1); log(1) && xs.push(2); log(0) || xs.push(3); no ?? xs.push(4); return xs',
  'let v; v ??= xs.map((x) => x); v ||= xs.slice(1); v &&= xs.at(0); return v',
  'let f; f ??= () => {}; return f.name',
  'let f; f ||= class {}; return f.name',
  'for (const x of [1, 2, 3, 4]) { switch (log(x)) { case log(1): log("one"); break; case 2: case 3: log("some"); default: log("rest"); let y = 1; log(y) } } return 1',
  'switch (log(7)) { case 1: log("one") } return 2',
  'switch (7) { default: function h() { return xs.at(0) } return h() }',
  'try { no.x } catch { log("caught"); xs.push(1) } finally { log("end") } return xs',
  'try { throw { a: 1 } } catch ({ a }) { return a } ',
  'outer: for (const a of xs) { for (const b of xs) { if (a === b) continue outer; if (log(b) > 2) break outer } }',
  'let i = 0; do { if (i > 2) break; i += xs.at(i) } while (i < 9); return i',
  'while (xs.length > 1 ? xs.pop() : false) log(xs.length); return xs',
  // Functions of all kinds
  'const g = function* () { yield* xs.map((x) => x + 1); const y = yield xs.at(0); return y }; return [...g()]',
  'const g = async function* () { for (const x of xs) yield await log(x) }; const out = []; for await (const x of g()) out.push(x); return out',
  'const f = (a = xs.at(0), { b = xs.at(1) } = {}, [c] = xs.slice(2)) => [a, b, c]; return f()',
  'class P { x = xs.map((n) => n); static y = xs.at(0); static { log(this.y) } get z() { return this.x.join() } #q() { return xs.at(-1) } r() { return this.#q() } } const p = new P(); return [p.z, P.y, p.r()]',
  'const o = { [s.trim()]: xs.at(0), get g() { return xs.slice(1) }, async m() { return await xs.map((x) => x) } }; return [o, o.g, await o.m()]',
  'function fib(n) { return n < 2 ? n : [fib(n - 1), fib(n - 2)].reduce((a, b) => a + b) } return fib(9)',
  'const f = (n) => n === 0 ? xs?.map((x) => x) : f(n - 1)?.map((x) => x + n); return f(3)',
  'return arguments.length',
  'return [this, new.target]',
  'const args = 1, mcp = 2, console = 3; let deps = 4; return [args, mcp, console, deps]',
  'var a = 1; var a = 2; function b() {} function b() { return xs.at(0) } return [a, b()]',
  "'use strict'; return (() => { try { zzz = 1 } catch (e) { return e.name } })()",
  'const $pml = 1, $pml2 = 2; return [$pml, $pml2, xs.at(0)]',
  'const \\u0024pml = 5; return [$pml, xs.at(0)]',
  // Texts
  'return "a,b".split(",").map((x) => x.toUpperCase()).join(`${xs.at(0)}\n`)',
  'return "💡 x".replace(/(x)/g, (m, g) => log(g) + "👍").padEnd(8, "é")',
  'const tag = (t, ...v) => t.raw.join("|") + v.join(); return tag`a${xs.at(0)}\\n${s.trim()}`',
  '// only a comment',
  '',
  '/* a */ return /* b */ xs /* c */ . /* d */ map /* e */ ( /* f */ (x) => x /* g */ , /* h */ ) /* i */ . length // j',
  'return xs // one\n  // two\n  .map((x) => x) // three\n  .length',
  'return xs\n.map(\n(x) => x,\n)\r\n?.filter(Boolean)',
];

test.each(SNIPPETS)('[STRUCT-3] hooks change nothing: %s', async (source) => {
  expect(show(await prepared(source))).toBe(show(await plainly(source)));
});

const { expression } = fc.letrec<{ expression: string; simple: string; list: string }>((tie) => {
  const one = tie('expression');
  const of = (...parts: readonly (string | fc.Arbitrary<string>)[]) =>
    fc
      .tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part)))
      .map((all) => all.join(''));
  const method = fc.constantFrom('map', 'filter', 'slice', 'concat', 'at', 'nope', 'join', 'push', 'trim');
  const dot = fc.constantFrom('.', '?.', '\n.', ' ?. ');
  return {
    simple: fc.constantFrom(
      'xs',
      's',
      'no',
      'odd',
      'deep',
      '1',
      '"t"',
      'deep.a',
      '((x) => log(x))',
      'undefined',
    ),
    list: fc.array(one, { maxLength: 2 }).map((items) => items.join(', ')),
    expression: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      tie('simple'),
      of('log(', one, ')'),
      of('(', one, ')', dot, method, '(', tie('list'), ')'),
      of('xs', dot, method, '(', tie('list'), ')', dot, method, '(', tie('list'), ')'),
      of('(', one, ')?.[', one, ']', dot, method, '(', tie('list'), ')'),
      of('(', one, ')', dot, 'a', dot, 'b', dot, method, '(', tie('list'), ')'),
      of('deep.f?.(', one, ')', dot, method, '(', tie('list'), ')'),
      of('log?.(', one, ')', dot, method, '(', tie('list'), ')'),
      of('(', one, ' ? ', one, ' : ', one, ')'),
      of('((', one, ') && (', one, '))'),
      of('((', one, ') ?? ', one, ')'),
      of('(await ', one, ')'),
      of('[', tie('list'), ', ...[', tie('list'), ']]'),
      of('({ a: ', one, ' }).a'),
      of('(typeof ', one, ')'),
      of('`${', one, '} t`'),
      of('Object.keys(', one, ' ?? {})'),
      of('(await (async (v) => ', one, ')(', one, '))'),
    ),
  };
});

const program = fc
  .array(
    fc.oneof(
      expression.map((text) => `log(${text})`),
      fc.tuple(expression, expression).map(([a, b]) => `if (${a}) log(${b})\nelse { log(1) }`),
      fc.tuple(expression, expression).map(([a, b]) => `try { log(${a}) } catch { log(${b}) }`),
      fc
        .tuple(expression, expression)
        .map(([a, b]) => `switch (${a}) { case 1: log(${b})\n default: log(2) }`),
      fc.tuple(expression, expression).map(([a, b]) => `for (const e of [${a}, 2]) { ${b} }`),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((lines) => `${lines.join('\n')}\nreturn 0`);

test('[STRUCT-3] hooks change nothing in any program made of calls, chains and decisions', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (source) => {
      expect(show(await prepared(source))).toBe(show(await plainly(source)));
    }),
    { numRuns: proofRuns(5_000), seed: proofSeed() },
  );
});
