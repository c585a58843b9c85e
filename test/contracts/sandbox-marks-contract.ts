import { describe, expect, test } from 'vitest';
import {
  decision,
  failureOf,
  operation,
  program,
  type RunCode,
  returned,
  tableHost,
} from './sandbox-support.ts';

/** What a prepared program reports about itself. */
export function sandboxMarksContract(run: RunCode): void {
  const sites = [
    operation('filter'),
    decision('n1'),
    operation('Object.keys'),
    operation('map'),
    decision('n2'),
  ];
  const marked = (code: string) => program(code, { sites });

  describe('marks', () => {
    test('[BOX-10] operations and decisions are reported with their times, in causal order', async () => {
      const host = tableHost({ 'a:b': () => performance.now() });
      const code = `
        const kept = $pml.call(0, [1, 2, 3], 'filter', [(x) => $pml.test(1, x > 1)]);
        const between = await mcp.a.b();
        $pml.test(4, kept, 'case 2');
        return [kept, $pml.call(2, Object, 'keys', [{ k: 1 }]), between];`;
      const [kept, keys, between] = returned(await run(marked(code), host)) as [number[], string[], number];
      expect([kept, keys]).toEqual([[2, 3], ['k']]);
      const told = host.marks.map((mark) => (mark.kind === 'decision' ? mark.taken : mark.site));
      expect(told).toEqual(['false', 'true', 'true', 0, 'case 2', 2]);
      expect(host.marks.every(({ frame }) => frame === 0)).toBe(true);
      const [first, second, third, filter, taken, last] = host.marks.map((mark) =>
        mark.kind === 'decision' ? [mark.at, mark.at] : [mark.startedAt, mark.endedAt],
      ) as [number, number][];
      const order = [filter![0], first![0], second![0], third![0], filter![1]];
      order.push(host.calls[0]!.at, between, taken![0], last![0], last![1]);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    });

    test('[BOX-10] only built-in functions count as operations, and are called as usual', async () => {
      const host = tableHost();
      const code = `
        const own = { filter: (x) => x + 1 };
        const typed = new Uint8Array([1, 2]);
        const shadow = { keys: () => 'mine' };
        const results = [
          $pml.call(0, own, 'filter', [1]),
          $pml.call(0, [1], 'map', [(x) => x]),
          $pml.call(2, shadow, 'keys', []),
          [...$pml.call(0, typed, 'filter', [(x) => x > 1])],
        ];
        for (const [receiver, name] of [[null, 'filter'], [{}, 'filter'], [[], 'nothing']]) {
          try { $pml.call(0, receiver, name, []); } catch (e) { results.push(e.constructor.name + ': ' + e.message); }
        }
        return results;`;
      expect(returned(await run(marked(code), host))).toEqual([
        2,
        [1],
        'mine',
        [2],
        "TypeError: Cannot read properties of null (reading 'filter')",
        'TypeError: filter is not a function',
        'TypeError: nothing is not a function',
      ]);
      expect(host.marks).toHaveLength(1);
    });

    test('[BOX-10] an operation that throws is reported as failed, and throws', async () => {
      const host = tableHost();
      const code = "$pml.call(3, [1], 'map', [() => { throw new Error('inside'); }]);";
      expect(failureOf(await run(marked(code), host))).toMatchObject({ kind: 'thrown', message: 'inside' });
      expect(host.marks).toMatchObject([{ kind: 'operation', site: 3, success: false }]);
    });

    test('[BOX-10] marks of a capability belong to its own frame', async () => {
      const inner = program("return $pml.call(0, [1], 'map', [(x) => x]);", { sites: [operation('map')] });
      const host = tableHost({}, { inner });
      const code = "await capabilities.inner(); return $pml.call(3, [1], 'map', [(x) => x]);";
      await run(marked(code), host);
      expect(host.marks.map(({ frame, site }) => [frame, site])).toEqual([
        [1, 0],
        [0, 3],
      ]);
    });

    test('[BOX-11] a site is reported at most 200 times and a run 2,000 times; the outcome says when more was dropped', async () => {
      const within = tableHost();
      const loop = (times: number) => `for (let i = 0; i < ${times}; i++) $pml.test(1, true);`;
      expect((await run(marked(loop(200)), within)).truncated).toBe(false);
      expect(within.marks).toHaveLength(200);
      const beyond = tableHost();
      expect((await run(marked(loop(201)), beyond)).truncated).toBe(true);
      expect(beyond.marks).toHaveLength(200);
      const many = tableHost();
      const everySite = program('for (let i = 0; i < 2400; i++) $pml.test(i % 12, true);', {
        sites: Array.from({ length: 12 }, (_, i) => decision(`n${i}`)),
      });
      expect((await run(everySite, many)).truncated).toBe(true);
      expect(many.marks).toHaveLength(2_000);
    });
  });
}
