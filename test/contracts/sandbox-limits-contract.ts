import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/engine/ports.ts';
import { failureOf, options, program, type RunCode, returned, tableHost } from './sandbox-support.ts';

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Limits that every sandbox keeps, and how a run is ended from outside. */
export function sandboxLimitsContract(run: RunCode, create: () => Sandbox): void {
  describe('limits', () => {
    test('[BOX-12] tool calls beyond the parallel limit wait in order; capability calls pass in turn', async () => {
      const started: number[] = [];
      let inFlight = 0;
      let most = 0;
      const host = tableHost(
        {
          'a:b': async ({ i }: { i: number }) => {
            started.push(i);
            most = Math.max(most, ++inFlight);
            await pause(2);
            inFlight--;
            return i;
          },
        },
        { nested: 'return await capabilities.leaf();', leaf: 'return (await mcp.a.b({ i: 99 })) + 1;' },
      );
      const code = `
        const calls = Array.from({ length: 12 }, (_, i) => mcp.a.b({ i }));
        const nested = capabilities.nested();
        return [...(await Promise.all(calls)), await nested];`;
      const value = returned(await run(code, host, options({ callsInFlight: 2 })));
      expect(value).toEqual([...Array.from({ length: 12 }, (_, i) => i), 100]);
      expect(started).toEqual([...Array.from({ length: 12 }, (_, i) => i), 99]);
      expect(most).toBe(2);
    });

    test('[BOX-12] one call too many ends the run, tools and capabilities counted together', async () => {
      const host = tableHost({ 'a:b': () => 1 }, { c: 'return 1;' });
      const code = `
        try { for (let i = 0; ; i++) await (i % 2 ? mcp.a.b() : capabilities.c()); } catch { return 'survived'; }`;
      const failure = failureOf(await run(code, host, options({ callsTotal: 5 })));
      expect(failure).toMatchObject({ kind: 'limit', limit: 'calls' });
      expect(failure.message).toMatch(/more than 5 calls.*pml\.sandbox\.calls_total/);
      expect(host.calls.length + host.entered.length).toBe(5);
    });

    test('[BOX-12] arguments and answers that are too large can be caught', async () => {
      const host = tableHost({ 'a:b': ({ bytes }: { bytes: number }) => 'ü'.repeat(bytes / 2) });
      const code = `
        const told = async (args) => {
          try { return (await mcp.a.b(args)).length; } catch (e) { return [e.name, e.code, e.message]; }
        };
        return [await told({ bytes: 100 }), await told({ text: 'ü'.repeat(60) }), await told({ bytes: 1000 })];`;
      const limits = options({ argumentBytes: 100, resultBytes: 800 });
      expect(returned(await run(code, host, limits))).toEqual([
        50,
        [
          'LimitError',
          'too_large',
          expect.stringMatching(/arguments of a:b .* 100 bytes.*pml\.sandbox\.argument_bytes/),
        ],
        [
          'LimitError',
          'too_large',
          expect.stringMatching(/result of a:b .* 800 bytes.*pml\.sandbox\.result_bytes/),
        ],
      ]);
      expect(host.calls).toHaveLength(2);
    });

    test('[BOX-12] a result that is too large is a failure; in a capability, its caller can catch it', async () => {
      const limits = options({ resultBytes: 100 });
      const failure = failureOf(await run("return 'x'.repeat(200);", undefined, limits));
      expect(failure).toMatchObject({ kind: 'limit', limit: 'result' });
      expect(failure.message).toMatch(/more than 100 bytes.*pml\.sandbox\.result_bytes/);
      const host = tableHost({}, { big: "return 'ü'.repeat(60);" });
      const code = 'try { await capabilities.big(); } catch (e) { return e.code; }';
      expect(returned(await run(code, host, limits))).toBe('capability_failed');
    });

    test('[BOX-12] what is printed beyond the limit is dropped, in whole characters', async () => {
      const code = "console.log('12345'); console.log('üüüü'); console.log('more'); return 1;";
      const outcome = await run(code, undefined, options({ consoleBytes: 12 }));
      expect(outcome.console.map(({ text }) => text)).toEqual(['12345', 'üü']);
      expect(outcome).toMatchObject({ ok: true, truncated: true });
    });

    test('[BOX-13] wall time ends a waiting run, but not while a person is asked', async () => {
      const never = () => new Promise(() => {});
      const failure = failureOf(
        await run('await mcp.a.never();', tableHost({ 'a:never': never }), options({ wallMs: 60 })),
      );
      expect(failure).toMatchObject({ kind: 'limit', limit: 'wall' });
      expect(failure.message).toMatch(/longer than 60 ms.*pml\.sandbox\.wall_ms/);
      const asking = tableHost({
        'a:ask': async (_, hold) => {
          const release = hold();
          const again = hold();
          release();
          release();
          await pause(5_200);
          again();
          return 'answered';
        },
      });
      expect(returned(await run('return await mcp.a.ask();', asking, options({ wallMs: 5_000 })))).toBe(
        'answered',
      );
    });

    test('[BOX-13] a cancelled run ends at once, its open frames are left, and nothing is called afterwards', async () => {
      const controller = new AbortController();
      const host = tableHost(
        {
          'a:never': () => {
            setTimeout(() => controller.abort(), 10);
            return new Promise(() => {});
          },
        },
        { outer: 'return await capabilities.inner();', inner: 'return await mcp.a.never();' },
      );
      const given = { ...options(), signal: controller.signal };
      const code = 'try { await capabilities.outer(); } finally { await mcp.a.again(); }';
      expect(failureOf(await run(code, host, given))).toMatchObject({ kind: 'cancelled' });
      expect(host.left.map(({ frame, end }) => [frame, end.ok])).toEqual([
        [2, false],
        [1, false],
      ]);
      await pause(20);
      expect(host.calls).toHaveLength(1);
      expect(failureOf(await run('return 1;', undefined, given)).kind).toBe('cancelled');
    });

    test('[BOX-13] closing ends active runs', async () => {
      const sandbox = create();
      let called = () => {};
      const isUnderWay = new Promise<void>((resolve) => {
        called = resolve;
      });
      const host = tableHost({
        'a:never': () => {
          called();
          return new Promise(() => {});
        },
      });
      const outcome = sandbox.run(program('await mcp.a.never();'), host, options());
      await isUnderWay;
      await sandbox.close();
      expect((await outcome).ok).toBe(false);
    });
  });
}
