import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { compile, placeOf, runInVm } from '../../../../test/support/guest-in-vm.ts';
import { LineIndex, type SourcePosition } from '../parse/parse-program.ts';
import { prepareProgram } from './prepare-program.ts';

const GIVEN = { args: { list: [{ name: 'a' }], none: null } };

/** The place in the source of the error that a program throws. */
async function failingPlace(source: string): Promise<SourcePosition | null> {
  const program = prepareProgram(source);
  if (!program.ok) throw new Error(program.error.message);
  const { error, position } = await runInVm(program.value, GIVEN);
  expect(error).toMatchObject({ message: expect.any(String) });
  return position && program.value.locate(position.line, position.column);
}

/** The same from the engine itself, with types blanked out and nothing else changed. */
async function truePlace(source: string): Promise<SourcePosition | null> {
  const head = '(async function (mcp, capabilities, args) {"use strict"; return (async function () {\n';
  const script = stripTypeScriptTypes(`${head}${source}\n})(); })`);
  try {
    await compile(script, {}, 'plain.js')({}, {}, GIVEN.args);
  } catch (error) {
    const found = placeOf(error, 'plain.js');
    return found && { line: found.line - 1, column: found.column };
  }
  return null;
}

const FAILING = [
  'null.x',
  'undefined.foo()',
  'const a = 1;\n  a.b.c',
  "throw new Error('x')",
  "throw new TypeError(`${[1, 2].map((x) => x).join(',')}`)",
  'const x: string = "👍👍"; foo(x)',
  "let t = 'é漢字👩‍👩‍👧'; /* 👍 */ t.foo.bar",
  "const f = <T,>(x: T): T => { throw new Error('a'); }; f<number>(1)",
  'const rows: any[] = [1, 2]\n  .map<number>((x: number) => x + 1)\n  .filter((x): boolean => x.foo.bar)',
  'const r = [1]\n  .map((x) => x)\n  // a comment\n  .filter(Boolean)\n  .nope()',
  'let xs: any; xs.filter((x: any) => x)',
  'let xs: any; xs.filter(await xs)',
  'let xs: any; xs\n  ?.filter(f)\n  .map(g);\nconst s = `a${1}👍 ${null!.q}`;',
  'const s = `line\nline2 ${boom()}\n`',
  'const s = `line\nline2 ${args.none.x} 👍 ${args.none}`',
  "JSON.parse('{')",
  'Object.keys(null as any)',
  'parseInt(Symbol() as any)',
  'async function f(a: { b: string }): Promise<void> { await null; a.b.c.d }\nawait f({} as any)',
  'const { a: { b } } = {} as any',
  'const [a] = null as any',
  'for (const x of 5 as any) {}',
  'const q = (1 > 2) ? 1 : bar;',
  'switch (1 as number) { case 1: foo(); }',
  "try { foo() } finally { JSON.parse('1') }",
  'try { foo() } catch (e) { bar() }',
  'const x = { a: [1, 2, 3].map(null as any) }',
  '"abc".repeat(-1)',
  '[3].reduce((a: any, b) => a, zz)',
  'return (await Promise.resolve(null as any)).items.filter((x: any) => x)',
  'const a = 1n, b = 2; a + b',
  'const a = 1n, b = 2; const c = 1 + Number(a) * (b - a)',
  'undeclared = 1',
  'const k = 1; k = 2',
  '({} as any).a.b()',
  '({} as any)()',
  'const f: any = 3; f()',
  "const f: any = {}; f['g'].h()",
  'const f: any = [1]; f[0]()',
  'new (3 as any)()',
  'await nope',
  'new Map([1 as any])',
  'const a: any = null;\r\nconst b = 2;\r\n  a.c',
  '// x\u2028const a: any = null; a.c',
  'const a: any = null;\r a.c',
  'const obj: any = {};\nobj\n  .a // one\n  .b // two\n  .c',
  'const g = function* (): any { yield 1; boom() }; [...g()]',
  'const xs: any = [[1]];\nxs.map((a: any) =>\n  a.map((b: any) =>\n    b.c.d))',
  'label: for (const i of [1]) { for (;;) { boom(); break label } }',
  'const fn = (a: number, b = zip(a)) => b; fn(1)',
  'const v = xs!.map(1); let xs: any',
  'const x = 5 as number satisfies number; (x as any).foo.bar',
  "await (async () => { await 1; throw new Error('q') })()",
  "await Promise.all([1].map(async (x) => { await x; throw new Error('q') }))",
  'null ?? b',
  'interface A { x: string }\ntype B = A | null;\ndeclare const zzz: number;\nconst y = zzz + 1',
  'const t = null as any; t`a`;',
  'const names = args.list.map((item: { name: string }) => item.name.trim().toUpperCase());\nnames[3].split(",")',
  'function deep<T extends { a: string }>(this: void, x: T, ...rest: Array<T>): asserts x is T { rest[0].a.b }\ndeep({} as any)',
];

test.each(FAILING)(
  '[STRUCT-4] an error has the place that the engine finds in the source: %s',
  async (source) => {
    expect(await failingPlace(source)).toEqual(await truePlace(source));
  },
);

/** The expected place is marked. Types that produce code, and places that hooks make more exact. */
const MARKED = [
  "enum E { A, B = 'x' }\nconst z: E = E.A;\n\tE.◆foo()",
  'class A<T> { constructor(private readonly x: T) {} go(): void { (this.x as any).◆y.z } }\nnew A(undefined).go()',
  'if (◆foo) {}',
  'const o: any = { a: {} }; o?.a.b.◆c.filter(x)',
  'const o: any = { a: { b: 1 } }; o?.a.b.◆filter((x) => x)',
  'const o: any = { a: {} }; o?.list.◆push(await 1)',
];

test.each(MARKED)('[STRUCT-4] an error is located where it was created: %s', async (marked) => {
  const offset = marked.indexOf('◆');
  const source = marked.replace('◆', '');
  expect(await failingPlace(source)).toEqual(new LineIndex(source).positionAt(offset));
});

test('[STRUCT-4] code from elsewhere has no place', () => {
  const program = prepareProgram('return 1');
  if (!program.ok) throw new Error(program.error.message);
  expect(program.value.locate(1, 1)).toBeNull();
  expect(program.value.locate(1000, 1)).toBeNull();
  const lines = program.value.script.split('\n');
  expect(program.value.locate(lines.length, 1)).toBeNull();
});
