import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { identityOf, inOrderOf, type Template, templateOf } from './template.ts';

/** The normal form is its own fingerprint: two hashes agree exactly when their texts do. */
const asIs = (text: string) => text;

function identity(source: string): string {
  const outcome = identityOf(source, asIs);
  if (!outcome.ok) throw new Error(`${outcome.error.message}: ${source}`);
  return outcome.value.codeHash;
}

function template(source: string): Template {
  const outcome = templateOf(source);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

describe('[CAP-2] differences that do not make another program', () => {
  const same: readonly (readonly [what: string, one: string, other: string])[] = [
    ['formatting', 'return[1,x].map(f)', 'return [\n  1,\n  x,\n].map( f );\n'],
    ['comments', 'return a', '/* why */ return a // because'],
    ['types', 'const f = (a) => a', 'const f = <T,>(a: T): T => a as unknown as T'],
    ['declared types', 'return 1', 'interface A { b: 1 }\ntype C = A | "x";\ndeclare const d: C;\nreturn 1'],
    ['overloads', 'function f(a) {}', 'function f(a: string): void;\nfunction f(this: void, a?: string) {}'],
    ['members for types', 'class A { b = c }', 'class A { private readonly b?: string = c; declare d: 1 }'],
    ['methods for types', 'class A { f() {} }', 'abstract class A { f(): void; f() {} abstract g(): void }'],
    ['parentheses', 'return a + b * c', 'return (a + ((b) * c))'],
    ['quotes', 'return "a"', "return 'a'"],
    ['backticks', 'return "a"', 'return `a`'],
    ['semicolons', 'a()\nb()', ';a();;b();'],
    ['braces', 'if (a) b(); else if (c) d()', 'if (a) { b() } else { if (c) { d() } }'],
    ['an empty body', 'for (;;);', 'for (;;) {}'],
    ['names of variables', 'const a = f(); return a', 'const b = f(); return b'],
    ['names of parameters', 'return x.map((a, i) => a + i)', 'return x.map((b, k) => b + k)'],
    ['names of functions', 'return f(); function f() {}', 'return g(); function g() {}'],
    ['a function named as its parameter', 'function f(f) { return f }', 'function g(a) { return a }'],
    ['names caught', 'try { a() } catch (e) { b(e) }', 'try { a() } catch (error) { b(error) }'],
    ['names of classes', 'class A {} new A()', 'class B {} new B()'],
    ['labels', 'a: for (;;) break a', 'b: for (;;) break b'],
    ['shorthand', 'const a = 1; return { a }', 'const b = 1; return { a: b }'],
    ['shorthand taken apart', 'const { a } = x; return a', 'const { a: b } = x; return b'],
    ['quoted keys', 'return { "a": x }', 'return { a: x }'],
    ['brackets', 'mcp["a"]["b"]({})', 'mcp.a.b({})'],
    ['bracketed numbers', 'return x[0]', 'return x["0"]'],
    ['literals', 'return a("x", 1, true, 2n)', 'return a("y", 2.5, false, 3n)'],
    ['signs', 'return a(5, 5n)', 'return a(-5, -5n)'],
    ['lists', 'f(["a", "b"])', 'f(["c"])'],
    [
      'text beside tools in a map',
      'const { a } = mcp; const r = a.b; x.map((y) => r({ y, q: "1" }))',
      'const { a } = mcp; const r = a.b; x.map((y) => r({ y, q: "2" }))',
    ],
    ['text in templates', 'return `a${x}b`', 'return `${x} and more`'],
  ];
  test.each(same)('%s', (_, one, other) => expect(identity(other)).toBe(identity(one)));
});

describe('[CAP-3] differences that make another program', () => {
  const different: readonly (readonly [what: string, one: string, other: string])[] = [
    ['operators', 'return a + b', 'return a - b'],
    ['logic', 'return a ?? b', 'return a || b'],
    ['methods', 'return a.map(f)', 'return a.filter(f)'],
    ['properties', 'return a.b', 'return a.c'],
    ['keys', 'return { a: x }', 'return { b: x }'],
    ['indices', 'return a[0]', 'return a[1]'],
    ['tools', 'mcp.a.b({})', 'mcp.a.c({})'],
    ['tools behind a constant', 'const t = "b"; mcp.a[t]({})', 'const t = "c"; mcp.a[t]({})'],
    ['tools behind a sum', 'mcp.a["b" + x + "c"]({})', 'mcp.a["b" + x + "d"]({})'],
    [
      'tools behind folded text',
      'const t = "b"; mcp.a[`x${t + "y"}`]({})',
      'const t = "b"; mcp.a[`z${t + "y"}`]({})',
    ],
    [
      'tools behind a function',
      'const f = (t) => mcp.a[t]({}); f("b")',
      'const f = (t) => mcp.a[t]({}); f("c")',
    ],
    [
      'servers handed on',
      'const f = (s) => s.read({}); f(mcp["a"]); x["k"]',
      'const f = (s) => s.read({}); f(mcp["b"]); x["k"]',
    ],
    [
      'tools of a server handed on',
      'const f = (s, t) => s[t]({}); f(mcp.a, "b")',
      'const f = (s, t) => s[t]({}); f(mcp.a, "c")',
    ],
    ['tools of a variable', 'let m = mcp.a; m[k("b")]({})', 'let m = mcp.a; m[k("c")]({})'],
    [
      'tools out of a list',
      'for (const t of ["a", "b"]) mcp.a[t]({})',
      'for (const t of ["a", "c"]) mcp.a[t]({})',
    ],
    [
      'capabilities behind a name',
      'const s = "b"; capabilities[s]({})',
      'const s = "c"; capabilities[s]({})',
    ],
    ['order', 'a(); b()', 'b(); a()'],
    ['order of keys', 'return { a: f(), b: g() }', 'return { b: g(), a: f() }'],
    ['order of arguments', 'const a = 1, b = 2; f(a, b)', 'const a = 1, b = 2; f(b, a)'],
    ['more statements', 'a()', 'a(); a()'],
    ['which variable', 'const a = f(), b = g(); return a', 'const a = f(), b = g(); return b'],
    ['whose variable', 'return x.map((a) => a)', 'return x.map((b) => a)'],
    ['a hidden parameter', 'function f(a) { var a; return a }', 'function f(a) { var b; return b }'],
    ['a local mcp', 'const mcp = x; mcp.a.b({})', 'const y = x; mcp.a.b({})'],
    ['kinds of literals', 'return f(1)', 'return f("1")'],
    ['kinds of lists', 'return f([1])', 'return f(["1"])'],
    ['an empty list', 'return f([])', 'return f([1])'],
    ['waiting', 'await f()', 'f()'],
    ['optional chains', 'return a?.b', 'return a.b'],
    ['ends of chains', 'return (a?.b).c', 'return a?.b.c'],
    ['asynchrony', 'f(async () => a)', 'f(() => a)'],
    ['increments', 'return i++', 'return ++i'],
    ['regular expressions', 'return /a/.test(x)', 'return /b/.test(x)'],
    ['flags', 'return /a/.test(x)', 'return /a/g.test(x)'],
    ['tagged templates', 'return String.raw`a`', 'return String.raw`b`'],
    ['directives', '"use strict"; return a', '"use other"; return a'],
    ['prototypes', 'return { __proto__: x }', 'return { ["__proto__"]: x }'],
    ['jumps', 'a: for (;;) b: for (;;) break a', 'a: for (;;) b: for (;;) break b'],
    [
      'private members',
      'class A { #a; f(o) { return #a in o } #b }',
      'class A { #a; f(o) { return #b in o } #b }',
    ],
    ['enums', 'enum E { A = "x" } return E.A', 'enum E { A = "y" } return E.A'],
    ['holes', 'const [, a] = x', 'const [a] = x'],
    ['static members', 'class A { static f() {} }', 'class A { f() {} }'],
  ];
  test.each(different)('%s', (_, one, other) => expect(identity(other)).not.toBe(identity(one)));
});

/** A program as a list of steps; each stores its result in a variable of its own. */
type Step =
  | { readonly kind: 'call'; readonly tool: string; readonly argument: string; readonly literal: Literal }
  | { readonly kind: 'method'; readonly from: number; readonly method: string; readonly key: string }
  | { readonly kind: 'compare'; readonly from: number; readonly operator: string; readonly literal: Literal }
  | { readonly kind: 'object'; readonly from: number; readonly key: string };
type Literal = string | number | boolean;

interface Style {
  readonly prefix: string;
  readonly quote: string;
  readonly gap: string;
  readonly end: string;
  readonly isBracketed: boolean;
  readonly isTyped: boolean;
  /** What literals are turned into, of their own kind. */
  readonly shift: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array<Step>(
  fc.oneof(
    fc.record({
      kind: fc.constant('call' as const),
      tool: fc.constantFrom('read', 'write', 'list-all'),
      argument: fc.constantFrom('path', 'query'),
      literal: fc.oneof(fc.string(), fc.integer(), fc.boolean()),
    }),
    fc.record({
      kind: fc.constant('method' as const),
      from: fc.nat(9),
      method: fc.constantFrom('filter', 'map', 'some'),
      key: fc.constantFrom('a', 'b'),
    }),
    fc.record({
      kind: fc.constant('compare' as const),
      from: fc.nat(9),
      operator: fc.constantFrom('<', '===', '+'),
      literal: fc.oneof(fc.string(), fc.integer(), fc.boolean()),
    }),
    fc.record({
      kind: fc.constant('object' as const),
      from: fc.nat(9),
      key: fc.constantFrom('a', 'b'),
    }),
  ),
  { minLength: 1, maxLength: 8 },
);

const style: fc.Arbitrary<Style> = fc.record({
  prefix: fc.constantFrom('v', 'other', '$', 'é'),
  quote: fc.constantFrom('"', "'", '`'),
  gap: fc.constantFrom(' ', '\n', '/* a b */', ' // c\n'),
  end: fc.constantFrom(';', '\n', ';;\n'),
  isBracketed: fc.boolean(),
  isTyped: fc.boolean(),
  shift: fc.nat(3),
});

function render(program: readonly Step[], { prefix, quote, gap, end, isBracketed, isTyped, shift }: Style) {
  const literal = (value: Literal) => {
    if (typeof value === 'boolean') return String(shift % 2 === 0 ? value : !value);
    if (typeof value === 'number') return String(value + shift);
    const inner = JSON.stringify(value + 'x'.repeat(shift)).slice(1, -1);
    const text = inner.replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`);
    return `${quote}${quote === '`' ? text.replaceAll('${', '\\${') : text}${quote}`;
  };
  const name = (index: number) => `${prefix}${index}`;
  const earlier = (from: number, index: number) => (index === 0 ? 'args' : name(from % index));
  const member = (key: string) => (isBracketed || key.includes('-') ? `[${quote}${key}${quote}]` : `.${key}`);
  const lines = program.map((step, index) => {
    const value = (() => {
      switch (step.kind) {
        case 'call':
          return `await mcp.fs${member(step.tool)}({${gap}${step.argument}: ${literal(step.literal)} })`;
        case 'method':
          return `${earlier(step.from, index)}.${step.method}((${prefix}) => ${prefix}${member(step.key)})`;
        case 'compare':
          return `(${earlier(step.from, index)}${gap}${step.operator} ${literal(step.literal)})`;
        case 'object':
          return `{ ${step.key}: ${earlier(step.from, index)} }`;
      }
    })();
    return `const ${name(index)}${isTyped ? ': unknown' : ''} =${gap}${value}${end}`;
  });
  return `${lines.join('\n')}\nreturn ${name(program.length - 1)}`;
}

test('[CAP-2] any program keeps its identity in another style and with other literals', () => {
  fc.assert(
    fc.property(steps, style, style, (program, one, other) => {
      expect(identity(render(program, other))).toBe(identity(render(program, one)));
    }),
    { seed: proofSeed(), numRuns: proofRuns(5000) },
  );
});

test('[CAP-3] any two programs that differ in a step have different identities', () => {
  const isReal = (step: Step) => ({ ...step, ...('literal' in step && { literal: typeof step.literal }) });
  /** What a step means where it stands: which earlier result it takes, which kind of literal. */
  const meaning = (program: readonly Step[]) =>
    JSON.stringify(
      program.map((step, index) => ({
        ...isReal(step),
        ...('from' in step && { from: index === 0 ? -1 : step.from % index }),
      })),
    );
  fc.assert(
    fc.property(steps, steps, style, fc.nat(), (program, others, how, at) => {
      const [step] = others as [Step];
      const changed = program.with(at % program.length, step);
      const swapped = [...program.slice(1), ...program.slice(0, 1)];
      for (const other of [changed, swapped, [...program, step], others]) {
        const isSame = meaning(other) === meaning(program);
        expect(identity(render(other, how)) === identity(render(program, how))).toBe(isSame);
      }
    }),
    { seed: proofSeed(), numRuns: proofRuns(5000) },
  );
});

describe('[CAP-4] literals of a program', () => {
  test('are listed where the source has them, in order', () => {
    const source = 'const é = "👍"; f(-1, `a${[2, 3]}b`, null, 10n, true, /x/, x["key"], { "k": 4 })';
    const { slots } = template(source);
    expect(slots.map(({ kind, value, start, end }) => [kind, value, source.slice(start, end)])).toEqual([
      ['string', '👍', '"👍"'],
      ['number', -1, '-1'],
      ['text', 'a', 'a'],
      ['list', [2, 3], '[2, 3]'],
      ['text', 'b', 'b'],
      ['null', null, 'null'],
      ['bigint', '10', '10n'],
      ['boolean', true, 'true'],
      ['number', 4, '4'],
    ]);
    expect(slots.map(({ index }) => index)).toEqual(slots.map((_, index) => index));
  });

  const argumentsOf = (source: string) =>
    template(source).slots.flatMap(({ value, argument }) =>
      argument ? [[value, argument.tool, argument.name]] : [],
    );

  test.each([
    ['directly', 'mcp.fs.read({ path: "a" })'],
    ['in brackets', 'mcp["fs"]?.["read"]({ "path": ("a" as string) })'],
    ['through a constant', 'const p = "a"; mcp.fs.read({ path: p })'],
    ['through an object', 'const o = { path: "a" }; mcp.fs.read(o)'],
    ['through a property', 'const o = { p: { q: "a" } }; mcp.fs.read({ path: o.p.q })'],
    ['taken apart', 'const { p } = { p: "a" }; mcp.fs.read({ path: p })'],
    ['spread', 'const o = { path: "a" }; mcp.fs.read({ ...o })'],
    ['through an alias', 'const fs = mcp.fs; const { read: r } = fs; r({ path: "a" })'],
    ['through a computed name', 'const t = "read"; mcp.fs[t]({ path: "a" })'],
    ['inside a function', 'const f = async () => mcp.fs.read({ path: "a" }); await f()'],
  ])('are recognised as arguments: %s', (_, source) => {
    expect(argumentsOf(source)).toEqual([['a', 'fs:read', 'path']]);
  });

  test('are identified by their path within an argument, and by capability', () => {
    expect(argumentsOf('mcp.db.find({ filter: { age: 3 }, sort: [{ by: "x" }], tags: ["a", "b"] })')).toEqual(
      [
        [3, 'db:find', 'filter.age'],
        ['x', 'db:find', 'sort[0].by'],
        [['a', 'b'], 'db:find', 'tags'],
      ],
    );
    expect(argumentsOf('capabilities.tidy({ dir: "a" })')).toEqual([['a', 'capabilities.tidy', 'dir']]);
  });

  test('are not arguments when they are only part of one, or when mcp is something else', () => {
    expect(argumentsOf('mcp.fs.read({ path: "a" + x, other: c ? "b" : "d", [k]: "e" })')).toEqual([]);
    expect(argumentsOf('const mcp = x; mcp.fs.read({ path: "a" })')).toEqual([]);
    expect(argumentsOf('let p = "a"; p = f(); mcp.fs.read({ path: p })')).toEqual([]);
    expect(
      argumentsOf('const a = { x: b }, b = { y: a }; mcp.fs.read(a); const c = d, d = c; mcp.fs.read(c)'),
    ).toEqual([]);
  });

  test('that name a tool are not parameters', () => {
    expect(template('const t = "read"; mcp.fs[t]({})').slots).toEqual([]);
  });
});

test('[CAP-4] constants that use each other over and over are followed once', () => {
  const doubled = (value: (name: string) => string) =>
    Array.from({ length: 200 }, (_, n) => `const v${n + 1} = ${value(`v${n}`)};`).join('');
  const sums = `const v0 = "a"; ${doubled((v) => `${v} + ${v}`)} mcp.a[v200]({})`;
  const objects = `const v0 = "a"; ${doubled((v) => `{ x: ${v}, y: ${v} }`)} mcp.a.b(v200)`;
  expect(template(sums).slots).toEqual([]);
  expect(template(objects).slots).toHaveLength(1);
});

test('[CAP-24] code that cannot be parsed, is too long or nested too deeply gives an error that says so', () => {
  expect(templateOf('const = 1')).toMatchObject({ ok: false, error: { code: 'invalid_argument' } });
  expect(templateOf(`// ${'x'.repeat(70_000)}`)).toMatchObject({ ok: false, error: { code: 'too_large' } });
  const deep = `return ${'['.repeat(2000)}x${']'.repeat(2000)}`;
  expect(templateOf(deep)).toMatchObject({ ok: false, error: { code: 'too_large' } });
});

test('[JOB-5] parallel calls are put into the order of another program', () => {
  const one = 'return await Promise.all([mcp.a.x({ q: "one" }), mcp.b.y({})]);';
  const other = 'return await Promise.all([mcp.b.y({}), mcp.a.x({ q: "two" })]);';
  const arranged = inOrderOf(other, one);
  expect(arranged).toBe('return await Promise.all([mcp.a.x({ q: "two" }), mcp.b.y({})]);');
  expect(identity(other)).not.toBe(identity(one));
  expect(identity(arranged!)).toBe(identity(one));
  const unused = (calls: string) => `await Promise.all([${calls}]);\nreturn 1;`;
  expect(inOrderOf(unused('mcp.b.y({}), mcp.a.x({})'), unused('mcp.a.x({}), mcp.b.y({})'))).toBe(
    unused('mcp.a.x({}), mcp.b.y({})'),
  );
});

test.each([
  ['the same order', 'return Promise.all([mcp.a.x({}), mcp.b.y({})])'],
  ['another call', 'return Promise.all([mcp.c.z({}), mcp.a.x({})])'],
  ['one more call', 'return Promise.all([mcp.b.y({}), mcp.a.x({}), mcp.a.x({})])'],
  ['results by their place', 'const [b, a] = await Promise.all([mcp.b.y({}), mcp.a.x({})]); return { a, b }'],
  ['one after the other', 'await mcp.b.y({}); return await mcp.a.x({})'],
  ['no program', 'return ['],
])('[JOB-5] but not where there is %s', (_, source) => {
  expect(inOrderOf(source, 'return Promise.all([mcp.a.x({}), mcp.b.y({})])')).toBeNull();
});

/** A call of one of a few tools, with arguments of one of a few forms. */
const someCall = fc
  .tuple(
    fc.constantFrom('a.x', 'b.y', 'c.z'),
    fc.constantFrom('q', 'r', 's'),
    fc.oneof(fc.nat(9), fc.string()),
  )
  .map(([tool, name, value]) => `mcp.${tool}({ ${name}: ${JSON.stringify(value)} })`);
const callsAndOrder = fc
  .array(someCall, { minLength: 2, maxLength: 6 })
  .chain((calls) =>
    fc.tuple(
      fc.constant(calls),
      fc.shuffledSubarray(calls, { minLength: calls.length, maxLength: calls.length }),
    ),
  );

test('[JOB-5] calls made at once are the same program in any order, and calls one after the other are not', () => {
  const atOnce = (calls: readonly string[]) => `return await Promise.all([${calls.join(', ')}]);`;
  const inTurn = (calls: readonly string[]) => calls.map((call) => `await ${call};`).join('\n');
  const check = ([calls, other]: [string[], string[]]) => {
    const [one, two] = [atOnce(calls), atOnce(other)];
    expect(identity(inOrderOf(two, one) ?? two)).toBe(identity(one));
    expect(inOrderOf(inTurn(other), inTurn(calls))).toBeNull();
    const forms = (all: readonly string[]) => all.map((call) => identity(`return ${call}`)).join();
    expect(identity(inTurn(other)) === identity(inTurn(calls))).toBe(forms(other) === forms(calls));
  };
  fc.assert(fc.property(callsAndOrder, check), { numRuns: proofRuns(300), seed: proofSeed() });
});
