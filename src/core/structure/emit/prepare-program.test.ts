import { describe, expect, test } from 'vitest';
import { runInVm } from '../../../../test/support/guest-in-vm.ts';
import { OPERATIONS } from '../evaluate/call-operation.ts';
import { type PreparedProgram, prepareProgram } from './prepare-program.ts';

function prepare(source: string): PreparedProgram {
  const prepared = prepareProgram(source);
  if (!prepared.ok) throw new Error(prepared.error.message);
  return prepared.value;
}

function failure(source: string) {
  const prepared = prepareProgram(source);
  if (prepared.ok) throw new Error('It was prepared');
  return prepared;
}

describe('positions', () => {
  test('[STRUCT-2] nodes are numbered in program order and know their places', () => {
    const { structure } = prepare(
      'const read = (path) => mcp.fs.read({ path });\n\nconst a = (await read("👍")).items\n  .map((x) => x);\nif (a) await Promise.all([mcp.a.b()]);',
    );
    expect(structure.nodes.map(({ id, type, at, calledAt }) => [id, type, at, calledAt])).toEqual([
      ['n1', 'task', { line: 1, column: 24 }, { line: 3, column: 18 }],
      ['n2', 'operation', { line: 4, column: 4 }, undefined],
      ['n3', 'decision', { line: 5, column: 1 }, undefined],
      ['n4', 'fork', { line: 5, column: 14 }, undefined],
      ['n5', 'task', { line: 5, column: 27 }, undefined],
      ['n6', 'join', { line: 5, column: 37 }, undefined],
    ]);
  });

  test('[STRUCT-2] unresolved calls know their places', () => {
    const { structure } = prepare('const x = 1;\n  await mcp[args.s].go();');
    expect(structure.unresolved).toEqual([
      {
        text: 'mcp[args.s].go()',
        at: { line: 2, column: 9 },
        reason: 'The name of the server is known only at run time',
      },
    ]);
  });

  test('[STRUCT-9] a structure is plain data', () => {
    const { structure } = prepare(
      'await mcp.a.b({ a: { b: [1] }, c: args.c, d: (await mcp.a.x()).y, e: f() });',
    );
    expect(JSON.parse(JSON.stringify(structure))).toEqual(structure);
  });
});

describe('what a run reports', () => {
  const mcp = {
    db: {
      query: async () => [
        { on: true, n: 2 },
        { on: false, n: 5 },
        { on: true, n: 3 },
      ],
    },
  };

  test('[STRUCT-5] operations of a chain are reported in order', async () => {
    const program = prepare(
      'return (await mcp.db.query({})).filter((r) => r.on).map((r) => r.n).reduce((a, b) => a + b, 0)',
    );
    const { value, told } = await runInVm(program, { mcp });
    expect(value).toBe(5);
    expect(told).toEqual(['filter', 'map', 'reduce']);
    expect(program.script).toContain(
      '$pml.call(2, $pml.call(1, $pml.call(0, await mcp.db.query({}), "filter", [(r) => r.on]), "map", [(r) => r.n]), "reduce", [(a, b) => a + b, 0])',
    );
    expect(program.sites).toEqual([
      { kind: 'operation', operation: 'filter', node: 'n2' },
      { kind: 'operation', operation: 'map', node: 'n3' },
      { kind: 'operation', operation: 'reduce', node: 'n4' },
    ]);
  });

  test('[STRUCT-5] operations of an optional chain are reported when they run, and only then', async () => {
    const source = 'return (await mcp.db.query(args))?.filter((r) => r.on).map((r) => r.n)?.[0]';
    expect(await runInVm(prepare(source), { mcp })).toMatchObject({ value: 2, told: ['filter', 'map'] });
    const none = { db: { query: async () => null } };
    expect(await runInVm(prepare(source), { mcp: none })).toMatchObject({ value: undefined, told: [] });
  });

  test("[STRUCT-5] a method of the program's own is not reported", async () => {
    const source = 'const own = [1]; own.filter = (x) => x; return own.filter(2)';
    expect(await runInVm(prepare(source))).toMatchObject({ value: 2, told: [] });
  });

  test('[STRUCT-10] decisions report the branch they take, by its name in the structure', async () => {
    const source = [
      'const log = (x) => [x].map((y) => y);',
      'if (args.no) log(1); else log(2);',
      'args.yes ? log(1) : log(2);',
      'args.yes && log(1);',
      'args.missing ?? log(2);',
      'switch (args.kind) { case "x": log(1); break; case "y": case "z": log(2); default: log(3); }',
      'try { args.missing.x; log(1); } catch { log(2); }',
    ].join('\n');
    const program = prepare(source);
    const { told } = await runInVm(program, { args: { yes: 1, kind: 'z' } });
    const decisions = program.structure.nodes.filter(({ type }) => type === 'decision');
    const names = new Map(decisions.map(({ id, at }) => [id, `line ${at.line}`]));
    const taken = told.filter((each) => each.includes(' ')).map((each) => each.split(/ (.*)/s));
    expect(taken.map(([id, branch]) => [names.get(id!), branch])).toEqual([
      ['line 2', 'false'],
      ['line 3', 'true'],
      ['line 4', 'true'],
      ['line 5', 'nullish'],
      ['line 6', '"y" | "z"'],
      ['line 6', 'default'],
      ['line 7', 'catch'],
    ]);
    const branches = new Set(program.structure.edges.map(({ from, branch }) => `${from} ${branch}`));
    for (const [id, branch] of taken) expect(branches).toContain(`${id} ${branch}`);
  });

  test.each(OPERATIONS)('[STRUCT-5] %s is an operation', (operation) => {
    const call = operation.includes('.') ? `${operation}(args)` : `args.${operation}()`;
    const { structure, sites } = prepare(`return ${call}`);
    expect(structure.nodes).toMatchObject([{ type: 'operation', operation: `code:${operation}` }]);
    expect(sites).toEqual([{ kind: 'operation', operation, node: 'n1' }]);
  });

  test('[STRUCT-5] about sixty operations are known, and all of them exist', () => {
    expect(OPERATIONS.length).toBeGreaterThanOrEqual(60);
    for (const operation of OPERATIONS) {
      const [owner, name] = operation.split('.');
      const home: object[] =
        name === undefined ? [Array.prototype, String.prototype] : [Reflect.get(globalThis, owner!)];
      expect(home.some((object) => typeof Reflect.get(object, name ?? operation) === 'function')).toBe(true);
    }
  });
});

describe('the hooks are out of reach', () => {
  test('[STRUCT-6] no name and no escape leads to them', async () => {
    const names = /function\(mcp, capabilities, args, deps, console, (\S+)\)/;
    expect(names.exec(prepare('return [1].at(0)').script)?.[1]).toBe('$pml');
    expect(names.exec(prepare('return typeof $pml').script)?.[1]).toBe('$pml2');
    expect(names.exec(prepare('return typeof \\u0024pml, "$pml2"').script)?.[1]).toBe('$pml3');
    expect(names.exec(prepare('return typeof \\u{000024}pm\\u006c').script)?.[1]).toBe('$pml2');
    expect(await runInVm(prepare('return typeof $pml'))).toMatchObject({ value: 'undefined' });
  });

  test('[STRUCT-6] `arguments` reveals nothing', async () => {
    expect(await runInVm(prepare('return [arguments.length, typeof this]'))).toMatchObject({
      value: [0, 'undefined'],
    });
  });
});

describe('what cannot be prepared', () => {
  test('[STRUCT-7] an error names its place', () => {
    expect(failure('const a = 1;\nconst b = = 2;')).toMatchObject({
      error: { code: 'invalid_argument', message: expect.stringMatching(/\S/) },
      at: { line: 2, column: 11 },
    });
    expect(failure('return 1;\n}')).toMatchObject({
      error: { message: expect.stringMatching(/brace|expected/i) },
    });
    expect(failure('x;\nimport fs from "fs";')).toMatchObject({
      error: { message: expect.stringMatching(/cannot import/) },
      at: { line: 2, column: 1 },
    });
    expect(failure('return\n  import.meta.url')).toMatchObject({
      error: { message: expect.stringMatching(/import\.meta/) },
    });
    expect(failure('@dec class A {}')).toMatchObject({
      error: { message: expect.stringMatching(/Decorators/) },
    });
    expect(failure('let a = 1; let a = 2;')).toMatchObject({
      error: { message: expect.stringMatching(/a/) },
    });
    expect(failure('hello, this is a question?')).toMatchObject({
      error: { hint: expect.stringMatching(/TypeScript/) },
    });
  });

  test('[STRUCT-7] empty text and comments are programs that do nothing', async () => {
    for (const source of ['', '  \n\t', '// nothing', '/* nothing */', '\ufeff', '\r\n\r\n', ';']) {
      const program = prepare(source);
      expect(program.structure).toEqual({ nodes: [], edges: [], unresolved: [] });
      expect(await runInVm(program)).toMatchObject({ value: undefined, told: [] });
    }
  });
});
