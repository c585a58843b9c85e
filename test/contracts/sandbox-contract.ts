import { afterAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/engine/ports.ts';
import { sandboxLimitsContract } from './sandbox-limits-contract.ts';
import { sandboxMarksContract } from './sandbox-marks-contract.ts';
import {
  failureOf,
  options,
  program,
  type RunCode,
  returned,
  START,
  ToolFailure,
  tableHost,
} from './sandbox-support.ts';

/** What every sandbox promises; run on the twin without walls and on the real one alike. */
export function sandboxContract(name: string, create: () => Sandbox): void {
  describe(`sandbox: ${name}`, () => {
    const sandbox = create();
    afterAll(() => sandbox.close());
    const run: RunCode = (code, host = tableHost(), given = options()) =>
      sandbox.run(typeof code === 'string' ? program(code) : code, host, given);

    describe('programs', () => {
      test('[BOX-1] a program gets its arguments and dependencies, fresh, and returns data', async () => {
        const args = { list: [1, { deep: true }] };
        const made = program('args.list.push(await 2); return { args, deps };', { args, deps: { t1: 'x' } });
        expect(returned(await run(made))).toEqual({
          args: { list: [1, { deep: true }, 2] },
          deps: { t1: 'x' },
        });
        expect(args).toEqual({ list: [1, { deep: true }] });
      });

      test('[BOX-1] printed lines come back one by one, including errors and cycles', async () => {
        const { console } = await run(`
          const loop = { name: 'loop', list: [1, 'two', null, undefined, 3n] };
          loop.self = loop;
          console.log('text', 1, loop);
          console.info(new Map([['a', 1]]), new Set([1]), () => 1, Symbol('s'));
          console.warn({ get broken() { throw new Error('no'); } });
          console.error(new TypeError('wrong'));
          console.debug();`);
        expect(console.map(({ level }) => level)).toEqual(['log', 'info', 'warn', 'error', 'debug']);
        expect(console[0]!.text).toBe(
          'text 1 { name: "loop", list: [1, "two", null, undefined, 3n], self: [Circular] }',
        );
        expect(console[1]!.text).toBe('Map(1) { "a" => 1 } Set(1) { 1 } [Function (anonymous)] Symbol(s)');
        expect(console[2]!.text).toBe('{ broken: [cannot be shown] }');
        expect(console[3]!.text).toContain('TypeError: wrong');
        expect(console[4]!.text).toBe('');
      });

      test.each([
        ['undefined', 'return;', null],
        ['a date', 'return new Date(0);', '1970-01-01T00:00:00.000Z'],
        ['a map of text', "return new Map([['a', 1], ['b', [2]]]);", { a: 1, b: [2] }],
        ['another map', 'return new Map([[1, 2]]);', [[1, 2]]],
        ['a set', 'return new Set([1, 2]);', [1, 2]],
        ['a bigint', 'return { n: 2n ** 70n };', { n: '1180591620717411303424' }],
        ['typed arrays', 'return new Uint8Array([1, 2]);', [1, 2]],
        [
          'an error',
          "return Object.assign(new RangeError('far'), { code: 7 });",
          { name: 'RangeError', message: 'far', code: 7 },
        ],
        ['a class', 'return new (class { a = 1; get b() { return 2; } })();', { a: 1 }],
        ['toJSON', "return new (class { toJSON() { return 'told'; } })();", 'told'],
        ['no numbers', 'return [NaN, -Infinity, undefined];', [null, null, null]],
        [
          '__proto__',
          'return JSON.parse(\'{"__proto__": {"a": 1}}\');',
          JSON.parse('{"__proto__": {"a": 1}}'),
        ],
      ])('[BOX-2] returns %s as data', async (_, code, value) => {
        expect(returned(await run(code))).toEqual(value);
      });

      test.each([
        ['return () => 1;', 'result is a function'],
        ['return { a: [0, { callback() {} }] };', 'result.a[1].callback is a function'],
        ["return { 'a b': Symbol('x') };", 'result["a b"] is a symbol'],
        ['const loop = {}; loop.next = { loop }; return loop;', 'result.next.loop contains itself'],
        ['return { later: Promise.resolve(1) };', 'result.later is a promise'],
        ['return new WeakMap();', 'result is a WeakMap'],
        ['let deep = []; for (let i = 0; i < 5000; i++) deep = [deep]; return deep;', 'nested more than'],
        ['return mcp.server.tool;', 'result is a function'],
      ])('[BOX-2] says which part of a result is not data: %s', async (code, message) => {
        const failure = failureOf(await run(code));
        expect(failure).toMatchObject({ kind: 'no_data', message: expect.stringContaining(message) });
      });

      test.each([
        ["throw new RangeError('far');", 'RangeError', 'far'],
        ['throw 42;', 'Error', '42 was thrown, which is not an Error'],
        ['throw null;', 'Error', 'null was thrown, which is not an Error'],
        ['throw undefined;', 'Error', 'undefined was thrown, which is not an Error'],
        [
          "throw { code: 'E', list: [1] };",
          'Error',
          '{ code: "E", list: [1] } was thrown, which is not an Error',
        ],
        ["throw Symbol('s');", 'Error', 'Symbol(s) was thrown, which is not an Error'],
        ["throw { name: 'Odd', message: 'like an error' };", 'Odd', 'like an error'],
        ['throw { get message() { throw 1; }, get name() { throw 2; } };', 'Error', '[cannot be shown]'],
        [
          'throw new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; } });',
          'Error',
          '[cannot be shown]',
        ],
        ['const e = new Error(); e.message = { toString() { throw 1; } }; throw e;', 'Error', 'no message'],
      ])('[BOX-3] reports what was thrown: %s', async (code, name, message) => {
        const failure = failureOf(await run(code));
        expect(failure).toMatchObject({ kind: 'thrown', name, message: expect.stringContaining(message) });
      });

      test('[BOX-3] an error has its place in the script', async () => {
        const failure = failureOf(
          await run('const a = 1;\nconst later = async () => {\n  await null;\n  a.b.c;\n};\nawait later();'),
        );
        expect(failure).toMatchObject({
          kind: 'thrown',
          name: 'TypeError',
          position: { file: 'program.ts', line: 5, column: 7 },
        });
      });

      test('[BOX-3] a script that does not parse is an error of the program', async () => {
        expect(failureOf(await run('const = 1;'))).toMatchObject({ kind: 'thrown', name: 'SyntaxError' });
      });

      test('[BOX-4] a promise that nothing can settle is reported at once', async () => {
        for (const code of [
          'await new Promise(() => {});',
          'await new Promise(() => {}); await mcp.a.b();',
        ]) {
          expect(failureOf(await run(code))).toMatchObject({
            kind: 'stuck',
            message: expect.stringContaining('waits for a promise that nothing can settle'),
          });
        }
        const host = tableHost({ 'a:b': () => 1 });
        expect(failureOf(await run('await mcp.a.b(); await new Promise(() => {});', host)).kind).toBe(
          'stuck',
        );
      });

      test('[BOX-5] the clock stands still, except for the time that answers bring', async () => {
        const host = tableHost({ 'a:b': () => 1 });
        const value = returned(
          await run(
            `const before = [Date.now(), new Date().getTime(), Date.parse(Date())];
             for (let i = 0; i < 1e5; i++);
             before.push(Date.now());
             await mcp.a.b();
             return { before, after: Date.now(), given: new Date(5).getTime(), kind: new Date() instanceof Date };`,
            host,
          ),
        );
        expect(value).toEqual({ before: Array(4).fill(START), after: START + 1_000, given: 5, kind: true });
      });

      test('[BOX-5] the same seed gives the same numbers, separately for each program', async () => {
        const code = 'return [Math.random(), Math.random(), await capabilities.dice()];';
        const host = () => tableHost({}, { dice: 'return [Math.random(), Math.random()];' });
        const first = returned(await run(code, host())) as [number, number, number[]];
        const other = await run(code, host(), { ...options(), seed: 'other' });
        expect(returned(await run(code, host()))).toEqual(first);
        expect(returned(other)).not.toEqual(first);
        const numbers = first.flat();
        expect(new Set(numbers).size).toBe(4);
        for (const number of numbers) expect(number >= 0 && number < 1).toBe(true);
      });
    });

    describe('calls', () => {
      test('[BOX-6] calls tools by any spelling of their names, with one object of arguments', async () => {
        const echo = (args: unknown) => ({ args });
        const host = tableHost({ 'a:b': echo, 'my-server:my.tool': echo, '__proto__:constructor': echo });
        const code = `
          const { b } = mcp.a;
          return [await mcp.a.b({ x: 1 }), await mcp['my-server']['my.tool'](), await b({ y: new Date(0) }),
            await mcp.__proto__.constructor({ z: [undefined, 1n] })];`;
        expect(returned(await run(code, host))).toEqual([
          { args: { x: 1 } },
          { args: {} },
          { args: { y: '1970-01-01T00:00:00.000Z' } },
          { args: { z: [null, '1'] } },
        ]);
        expect(host.calls.map(({ frame, call }) => [frame, call])).toEqual([
          [0, 'a:b'],
          [0, 'my-server:my.tool'],
          [0, 'a:b'],
          [0, '__proto__:constructor'],
        ]);
      });

      test('[BOX-6] awaiting or printing a namespace calls nothing', async () => {
        const host = tableHost();
        const code =
          'await mcp; await mcp.a; await capabilities; console.log(mcp); return JSON.stringify([mcp, mcp.a]);';
        expect(returned(await run(code, host))).toBe('[{},{}]');
        expect(host.calls).toEqual([]);
      });

      test.each([
        ["mcp.a.b('text')", 'a:b takes one object of named arguments, not a string'],
        ['mcp.a.b(null)', 'a:b takes one object of named arguments, not null'],
        ['mcp.a.b([1])', 'a:b takes one object of named arguments, not an array'],
        ['mcp.a.b({ f() {} })', 'a:b: arguments.f is a function'],
        ['capabilities.c(1)', 'c takes one object of named arguments, not a number'],
      ])('[BOX-6] refuses arguments that are not an object: %s', async (call, message) => {
        const host = tableHost({ 'a:b': () => 1 });
        const code = `try { await ${call}; } catch (error) { return [error instanceof TypeError, error.message]; }`;
        expect(returned(await run(code, host))).toEqual([true, expect.stringContaining(message)]);
        expect(host.calls).toEqual([]);
      });

      test('[BOX-7] a failed call throws an error that says how it failed', async () => {
        const host = tableHost({
          'db:query': () => {
            throw new ToolFailure({
              name: 'ToolError',
              code: 'tool_failed',
              message: 'no table',
              errorType: 'NOT_FOUND',
            });
          },
        });
        const caught = `
          try { await mcp.db.query({}); } catch (e) {
            return [e instanceof Error, e.name, e.code, e.errorType, e.tool, e.message];
          }`;
        expect(returned(await run(caught, host))).toEqual([
          true,
          'ToolError',
          'tool_failed',
          'NOT_FOUND',
          'db:query',
          'no table',
        ]);
        expect(failureOf(await run('const x = 1;\nawait mcp.db.query({ x });', host))).toEqual({
          kind: 'thrown',
          name: 'ToolError',
          message: 'db:query: no table',
          position: { file: 'program.ts', line: 3, column: 14 },
        });
      });

      test('[BOX-7] a failing host is an error of the call', async () => {
        const host = tableHost({
          'a:b': () => {
            throw new Error('a fault of the host');
          },
        });
        const code = 'try { await mcp.a.b(); } catch (e) { return [e.name, e.code]; }';
        expect(returned(await run(code, host))).toEqual(['ToolError', 'internal']);
      });

      test('[BOX-8] every invocation of a capability is its own frame, whatever runs beside it', async () => {
        const wait = async ({ ms }: { ms: number }) => {
          await new Promise((resolve) => setTimeout(resolve, ms));
          return ms;
        };
        const host = tableHost(
          { 'x:wait': wait },
          {
            leaf: 'await mcp.x.wait({ ms: args.ms }); return args.name;',
            branch: `
              const names = await Promise.all([3, 1, 2].map((ms) => capabilities.leaf({ ms, name: args.name + ms })));
              await mcp.x.wait({ ms: 1 });
              return names.join();`,
          },
        );
        const code = `
          const branches = await Promise.all(['a', 'b'].map((name) => capabilities.branch({ name })));
          await mcp.x.wait({ ms: 0 });
          return branches;`;
        expect(returned(await run(code, host))).toEqual(['a3,a1,a2', 'b3,b1,b2']);
        const branches = host.entered.filter(({ slug }) => slug === 'branch');
        const leaves = host.entered.filter(({ slug }) => slug === 'leaf');
        expect(branches.map(({ parent }) => parent)).toEqual([0, 0]);
        for (const { frame } of branches) {
          expect(leaves.filter(({ parent }) => parent === frame)).toHaveLength(3);
        }
        const callers = host.calls.map(({ frame }) => frame).sort((a, b) => a - b);
        expect(callers).toEqual([0, ...host.entered.map(({ frame }) => frame)].sort((a, b) => a - b));
        expect(host.left.map(({ frame }) => frame).sort()).toEqual(
          host.entered.map(({ frame }) => frame).sort(),
        );
        expect(host.left.every(({ end }) => end.ok)).toBe(true);
      });

      test('[BOX-8] a capability sees its arguments, not its caller', async () => {
        const host = tableHost(
          {},
          { spy: 'return [args, typeof secret, globalThis.left, [].last, typeof deps];' },
        );
        const code = `
          const secret = 1;
          globalThis.left = 'behind';
          return await capabilities.spy({ a: 1 });`;
        const value = returned(await run(code, host)) as unknown[];
        expect(value.slice(0, 2)).toEqual([{ a: 1 }, 'undefined']);
      });

      test('[BOX-9] a capability that fails throws in its caller, with the place where it did', async () => {
        const host = tableHost(
          {},
          { broken: 'const a = null;\na.b;', stuck: 'await new Promise(() => {});', shy: 'return () => 1;' },
        );
        const code = `
          const told = async (name) => {
            try { await capabilities[name](); } catch (e) { return [e.name, e.code, e.capability, e.message]; }
          };
          return [await told('broken'), await told('stuck'), await told('shy'), await told('absent')];`;
        expect(returned(await run(code, host))).toEqual([
          [
            'CapabilityError',
            'capability_failed',
            'broken',
            "Cannot read properties of null (reading 'b') (broken.ts:3:3)",
          ],
          ['CapabilityError', 'capability_failed', 'stuck', expect.stringContaining('nothing can settle')],
          ['CapabilityError', 'capability_failed', 'shy', expect.stringContaining('result is a function')],
          ['ToolError', 'not_found', 'absent', 'There is no absent'],
        ]);
        expect(host.left.map(({ end }) => (end.ok ? 'ok' : end.error.kind))).toEqual([
          'thrown',
          'stuck',
          'no_data',
        ]);
      });

      test('[BOX-9] calls without await delay nothing, and every entered frame is left once', async () => {
        const never = () => new Promise(() => {});
        const host = tableHost(
          { 'x:never': never, 'x:now': () => 1 },
          { slow: 'await mcp.x.never();', quick: 'void mcp.x.never(); return 1;' },
        );
        const code = `
          void mcp.x.never();
          void capabilities.slow();
          await capabilities.quick();
          await mcp.x.now();
          return 'done';`;
        expect(returned(await run(code, host))).toBe('done');
        expect(host.left.map(({ frame, end }) => [frame, end.ok])).toEqual([
          [host.entered[1]!.frame, true],
          [host.entered[0]!.frame, false],
        ]);
      });
    });

    sandboxMarksContract(run);
    sandboxLimitsContract(run, create);
  });
}
