import fc from 'fast-check';
import { type Node, parseSync } from 'oxc-parser';
import { walk } from 'oxc-walker';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { prepareProgram } from '../emit/prepare-program.ts';
import { measureNesting } from './nesting.ts';

/** Repeated as often as the code limit allows. */
const many = (text: string) => text.repeat(Math.floor(110_000 / text.length));

/** Worst cases for a recursive parser. */
const BOMBS: Readonly<Record<string, string>> = {
  parentheses: `${many('(')}1${many(')')}`,
  'parentheses that never close': many('('),
  lists: `${many('[')}${many(']')}`,
  objects: `x = ${many('{a:')}1${many('}')}`,
  blocks: `${many('{')}${many('}')}`,
  functions: `${many('function f(){')}${many('}')}`,
  classes: many('(class{a='),
  arrows: `${many('a=>')}a`,
  templates: `${many('`${')}1${many('}`')}`,
  negations: `${many('!')}x`,
  sums: `${many('a+')}a`,
  members: `a${many('.b')}`,
  calls: `a${many('()')}`,
  'tagged templates': `a${many('``')}`,
  conditionals: `${many('a?b:')}c`,
  assignments: `${many('a=')}a`,
  awaits: `${many('await ')}x`,
  constructors: `${many('new ')}x`,
  ifs: `${many('if(a)')}b`,
  'ifs on lines of their own': `${many('if (a)\n')}b`,
  'else ifs': `${many('if(a)b;else ')}b`,
  'for awaits': `${many('for await (const a of b)\n')}c`,
  dos: `${many('do ')}x`,
  types: `let x: ${many('A<')}B${many('>')}`,
  'types with commas': `let x: ${many('A<B,')}B`,
  'types of types': `type x = ${many('keyof ')}B`,
  casts: `x${many(' as A')}`,
  assertions: `x${many('!')}`,
  'behind a regular expression': `if (a) /\`/.test(b); ${many('(')}`,
  'behind a quote in a regular expression': `x = /["'\`(]/; ${many('(')}`,
  'behind a division that looks like one': `a! / \`/\` / ${many('(')}`,
  'between two divisions': `a = b / ${many('(')}1${many(')')} / c`,
  'behind a number': `a = 1./${many('(')}1${many(')')}/1`,
  'behind a keyword that is a name': `a. if(b) /${many('(')}1${many(')')}/1`,
  'behind a comment that ends at an odd place': `// \u2028${many('(')}`,
  'behind an escape': `\\u{61}\\u0062 ${many('(')}`,
};

test.each(Object.entries(BOMBS))('[STRUCT-7] too deep: %s', (_, source) => {
  expect(prepareProgram(source)).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/nested too deeply|not clear whether/) },
    at: { line: expect.any(Number), column: expect.any(Number) },
  });
});

test('[STRUCT-7] ordinary code is never too deep, however long it is', () => {
  const lines = [
    'const a = await mcp.fs.read({ path: `a/${b.c[0]}` })',
    'if (a.b < 3 && /[({`"]/.test(a)) { c = a.d / 2 + (e / f) } else if (x) y()',
    "for (const x of a) await g(x, (y) => y.z ?? 'it\\'s', [1, 2])",
    'const t = (n) / 2 + "km/h"',
    'type A<T> = Map<string, Array<T>> | { a: 1 }',
    'switch (a) { case 1: b(); break; default: c() }',
    'class K<T> extends B<T> { x = 1; get y() { return this.x } static z<U>(u: U) { return u } }',
    'items.filter((i) => i.a > 1 || i.b).map(({ a, ...rest }) => ({ a, rest }))',
    'let u: number | undefined = a! / b! - 1',
    'return',
  ];
  for (const separator of ['\n', ';\n', ';\r\n']) {
    const source = Array.from({ length: 2000 }, () => lines.join(separator)).join(separator);
    expect(measureNesting(source)).toEqual({ kind: 'fine' });
  }
  expect(
    measureNesting(`const data = [${'{ "a": [1, 2, { "b": null }], "c": "((([[[{{{" },\n'.repeat(20_000)}]`),
  ).toEqual({
    kind: 'fine',
  });
});

/** Depth of the syntax tree. */
function depthOf(source: string): number {
  let depth = 0;
  let most = 0;
  const { program, errors } = parseSync('a.ts', `(async function () {${source}\n})`, { lang: 'ts' });
  if (errors.length > 0) throw new Error(`${errors[0]?.message}:\n${source}`);
  walk(program as Node, {
    enter: () => {
      most = Math.max(most, ++depth);
    },
    leave: () => {
      depth--;
    },
  });
  return most;
}

const { statement } = fc.letrec<{ expression: string; type: string; statement: string }>((tie) => {
  const one = tie('expression');
  const wrap = (...[before, after]: [string, string]) => one.map((inner) => `${before}${inner}${after}`);
  return {
    type: fc.oneof(
      { maxDepth: 8 },
      fc.constantFrom('A', '"x"', '`t`', '() => void', 'void'),
      tie('type').map((inner) => `A<${inner}>`),
      fc.tuple(tie('type'), tie('type')).map(([x, y]) => `A<${x}, ${y}>`),
      tie('type').map((inner) => `(keyof (${inner}))[]`),
      fc.tuple(tie('type'), tie('type')).map(([x, y]) => `((${x}) extends (${y}) ? 1 : 2)`),
    ),
    expression: fc.oneof(
      { maxDepth: 12 },
      fc.constantFrom('a', '1', '"(("', "'`'", '/[(`"]/g', '`\\`${1}`', '1.', '/* ( */ b', 'c.if'),
      wrap('(', ')'),
      wrap('[', ']'),
      wrap('({ a: ', ' })'),
      wrap('(!', ')'),
      wrap('(1 / ', ' / 2)'),
      wrap('(a\n/ ', ')'),
      wrap('f(', ')'),
      wrap('`${', '}`'),
      wrap('(async (x) => ', ')'),
      wrap('(async (x) => { return ', ' })'),
      wrap('(a! / ', ')'),
      wrap('(await ', ')'),
      fc.tuple(one, one).map(([x, y]) => `(${x} + ${y})`),
      fc.tuple(one, tie('type')).map(([x, y]) => `(${x} as ${y})`),
    ),
    statement: fc.oneof(
      { maxDepth: 10 },
      one.map((x) => `a = ${x}`),
      fc.tuple(tie('type'), one).map(([x, y]) => `var v: ${x}\n= ${y}`),
      fc.tuple(one, tie('statement')).map(([x, y]) => `if (${x})\n${y}`),
      fc.tuple(one, tie('statement')).map(([x, y]) => `for await (const x of ${x})\n${y}`),
      fc
        .tuple(one, tie('statement'), tie('statement'))
        .map(([x, y, z]) => `if (${x}) { ${y} }\nelse { ${z} }`),
      fc.tuple(tie('statement'), tie('statement')).map(([x, y]) => `{ ${x}\n${y} }\n`),
      tie('statement').map((x) => `{ async function f() { ${x} } }`),
    ),
  };
});

test('[STRUCT-7] the measured nesting is never too low', () => {
  // One token adds at most this many levels to the tree.
  const perToken = 2;
  fc.assert(
    fc.property(statement, (source) => {
      const depth = depthOf(source);
      const limit = Math.floor(depth / perToken) - 2;
      fc.pre(limit > 0 && source.length > limit);
      expect(measureNesting(source, limit).kind).not.toBe('fine');
    }),
    { numRuns: proofRuns(20_000), seed: proofSeed() },
  );
});

test('[STRUCT-7] any text gets an answer', () => {
  const bits = fc.constantFrom(
    ...[
      'mcp',
      '.a',
      '.b',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      'await ',
      '`',
      '${',
      '/',
      '"',
      "'",
      '\n',
      ';',
      ',',
      '=>',
      '?.',
    ],
    ...[
      'if',
      'for',
      'const x = ',
      'async ',
      'function',
      'class A',
      'x',
      '1',
      '...',
      '<',
      '>',
      ':',
      '\u2028',
      '👍',
      '\\',
    ],
    ...[
      'try',
      'catch',
      'switch',
      'case',
      'return ',
      '.map',
      'Promise.all',
      'enum E',
      '#',
      '@',
      '!',
      '=',
      '*',
      '\0',
      '\ud800',
    ],
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(bits, { maxLength: 60 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (source) => {
      const prepared = prepareProgram(source);
      if (prepared.ok) expect(prepared.value.script).toMatch(/^\(async function\(mcp, /);
      else expect(prepared.error.message).toMatch(/\S/);
    }),
    { numRuns: proofRuns(20_000), seed: proofSeed() },
  );
});

test('[STRUCT-7] long code is prepared, and a megabyte is refused', () => {
  const call = (n: number) => `const r${n} = await mcp.a.b({ n: ${n}, r: r${n - 1} });\n`;
  let source = 'const r0 = 0;\n';
  for (let n = 1; source.length < 240_000; n++) source += call(n);
  expect(prepareProgram(source)).toMatchObject({ ok: true });
  expect(prepareProgram(source.repeat(4))).toMatchObject({
    ok: false,
    error: { code: 'too_large', hint: expect.stringMatching(/args/) },
    at: { line: 1, column: 1 },
  });
});

test('[STRUCT-7] a program of too many steps or edges is refused', () => {
  const refused = ['mcp.a.b();'.repeat(24_000), `let s = '';\n${'s += await mcp.a.b({ s });'.repeat(9_000)}`];
  for (const source of refused) {
    expect(prepareProgram(source)).toMatchObject({ ok: false, error: { code: 'too_large' } });
  }
});

test('[STRUCT-7] a program with too many paths is refused quickly', () => {
  const helpers = (calls: number) =>
    Array.from(
      { length: 60 },
      (_, n) => `const f${n} = (x) => { ${`f${n + 1}(x + ${n});`.repeat(calls)} };`,
    ).join('\n');
  const deep = Array.from(
    { length: 12 },
    (_, n) => `let v${n} = 1; for (const x${n} of y) { v${n} += v${Math.max(n - 1, 0)};`,
  );
  // Each helper has two paths, which makes 2^60 in total.
  expect(prepareProgram(`${helpers(2)} f0(1)`)).toMatchObject({ ok: true });
  expect(prepareProgram(`${helpers(40)} f0(1)`)).toMatchObject({ ok: false, error: { code: 'too_large' } });
  const loops = prepareProgram(`${deep.join('\n')}${'}'.repeat(12)}`);
  expect(loops.ok && loops.value.structure.nodes).toHaveLength(12);
});

test('[STRUCT-7] values that grow with every line are still tracked', () => {
  const program = prepareProgram(
    `let o = { k: 1 };\n${'o = { a: o, b: o };\n'.repeat(60)} await mcp.a.b({ o });`,
  );
  expect(program).toMatchObject({
    value: { structure: { nodes: [{ arguments: { bindings: { o: { kind: 'expression', text: 'o' } } } }] } },
  });
  const doubled = prepareProgram(`let s = 'x';\n${'s = s + s;\n'.repeat(60)} await mcp.a.b({ s });`);
  expect(doubled).toMatchObject({
    value: { structure: { nodes: [{ arguments: { bindings: { s: { kind: 'expression', text: 's' } } } }] } },
  });
});
