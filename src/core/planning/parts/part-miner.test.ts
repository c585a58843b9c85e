import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import type { RememberedRun } from '../suggest/call-memory.ts';
import { type Part, PartMiner } from './part-miner.ts';
import { sourceOf } from './part-program.ts';

const SHARED = { owner: null, visibility: 'shared' } as const;

interface MadeCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly result?: unknown;
}

function run(session: string, intent: string, calls: readonly MadeCall[], at = 0): RememberedRun {
  return { session, intent, at, calls, ...SHARED };
}

function mined(runs: readonly RememberedRun[]): Part[] {
  const miner = new PartMiner();
  for (const one of runs) miner.add(one);
  return miner.parts();
}

/** Tools that are called for other things, so that those of a part are not all there is. */
const OTHERS = Array.from({ length: 20 }, (_, i) =>
  run(`other ${i}`, `other ${i}`, [{ tool: `other:t${i}`, arguments: {} }]),
);

const order = (session: string, id: string) => [
  run(session, 'buy', [
    { tool: 'shop:find', arguments: { name: `thing ${session}` }, result: { items: [{ id, price: 7 }] } },
    { tool: 'shop:order', arguments: { item: id, to: `street ${session}` }, result: { order: `o-${id}` } },
  ]),
  run(session, 'did it work?', [{ tool: 'shop:track', arguments: { order: `o-${id}` }, result: 'sent' }]),
];

test('[MINE-1] a part is found in two jobs, across runs of a session, with the values that its steps pass on', () => {
  const parts = mined([...OTHERS, ...order('a', 'x12'), ...order('b', 'x13')]);
  expect(parts.map(({ tools, support }) => [tools.join(' '), support])).toEqual([
    ['shop:find shop:order shop:track', 2],
  ]);
  expect(parts[0]!.wiring.map((wired) => Object.fromEntries(wired))).toEqual([
    {},
    { item: '#0 items[0].id' },
    { order: '#1 order' },
  ]);
  expect(mined([...OTHERS, ...order('a', 'x12')])).toEqual([]);
});

test('[MINE-6] a result that repeats an argument of its call is not the source of a value', () => {
  const job = (session: string, id: string) =>
    run(session, session, [
      { tool: 'shop:details', arguments: { order: id }, result: { order: id, state: 'open' } },
      { tool: 'shop:cancel', arguments: { order: id } },
    ]);
  const [part] = mined([...OTHERS, job('a', 'o-1'), job('b', 'o-2'), job('c', 'o-3')]);
  expect(Object.fromEntries(part!.wiring[1]!)).toEqual({ order: '=0 order' });
  expect(sourceOf(part!, 1, 'order')).toEqual({ kind: 'shared', step: 0, name: 'order' });
});

test('[MINE-1] one job counts once, however often it repeats the part', () => {
  const pair = (id: string) => order('a', id)[0]!.calls;
  expect(mined([...OTHERS, run('a', 'buy', [...pair('x1'), ...pair('x2'), ...pair('x3')])])).toEqual([]);
  const again = run('a', 'BUY', pair('x5'));
  expect(mined([...OTHERS, run('a', 'buy', pair('x4')), again])).toEqual([]);
});

test('[MINE-1] jobs that merely follow each other in a session have no part in common', () => {
  const day = (session: string) => [
    run(session, 'open the shop', [{ tool: 'shop:unlock', arguments: { door: session } }]),
    run(session, 'send the mail', [{ tool: 'mail:send', arguments: { to: session } }]),
  ];
  expect(mined([...OTHERS, ...['a', 'b', 'c', 'd'].flatMap(day)])).toEqual([]);
});

test('[MINE-2] steps that need a value from outside after they began are not a part', () => {
  const job = (session: string, id: string) =>
    run(session, session, [
      { tool: 'a:open', arguments: {}, result: { session: `s-${id}` } },
      { tool: 'a:look', arguments: {}, result: { key: `k-${id}` } },
      { tool: 'a:close', arguments: { session: `s-${id}`, key: `k-${id}` } },
    ]);
  const parts = mined([...OTHERS, job('a', '1'), job('b', '2'), job('c', '3')]);
  expect(parts.map(({ tools }) => tools.join(' '))).toEqual(['a:open a:look a:close']);
});

test('[MINE-3] one repeated tool, and tools that meet by chance, are not parts', () => {
  const same = ['a', 'b', 'c'].map((session) =>
    run(
      session,
      session,
      [1, 2, 3].map((n) => ({ tool: 'a:read', arguments: { n } })),
    ),
  );
  expect(mined([...OTHERS, ...same])).toEqual([]);
  // Each of five tools follows each of the others equally often.
  const tools = [0, 1, 2, 3, 4];
  const chance = tools.flatMap((a) =>
    tools.flatMap((b) =>
      [0, 1].map((n) =>
        run(
          `${a} ${b} ${n}`,
          `${a} ${b} ${n}`,
          [a, b].map((t) => ({ tool: `x:t${t}`, arguments: {} })),
        ),
      ),
    ),
  );
  expect(mined(chance)).toEqual([]);
});

test('[MINE-5] parts of private runs belong to their owner, and are not mixed with shared runs', () => {
  const mine = ['a', 'b'].flatMap((session) =>
    order(session, `x-${session}`).map((one) => ({ ...one, owner: 'ada', visibility: 'private' as const })),
  );
  const found = mined([...OTHERS, ...mine]);
  expect(found.map(({ owner, visibility }) => [owner, visibility])).toEqual([['ada', 'private']]);
  expect(mined([...OTHERS, ...mine.slice(0, 2), ...order('c', 'x-c')])).toEqual([]);
  const nobodys = mine.map((one) => ({ ...one, owner: null }));
  expect(mined([...OTHERS, ...nobodys])).toEqual([]);
});

describe('on any sessions', () => {
  const word = fc.constantFrom('red', 'blue', 'green', 'oak');
  /** A call takes the id of any call before it, or a word. */
  const call = fc.record({ tool: fc.integer({ min: 0, max: 5 }), takes: fc.option(fc.nat(3)), word });
  const session = fc.array(call, { minLength: 1, maxLength: 8 });
  const sessions = fc.array(session, { minLength: 2, maxLength: 12 });

  /** Each session is one job. */
  const runsOf = (all: readonly (typeof session extends fc.Arbitrary<infer T> ? T : never)[]) =>
    all.map((calls, s) =>
      run(
        `s${s}`,
        `job ${s}`,
        calls.map(({ tool, takes, word: text }, i) => ({
          tool: `t:t${tool}`,
          arguments: { value: takes === null || i === 0 ? text : `id-${s}-${Math.max(0, i - 1 - takes)}` },
          result: { id: `id-${s}-${i}` },
        })),
      ),
    );
  const options = { numRuns: proofRuns(300), seed: proofSeed() };

  test('[MINE-1] [MINE-3] a part occurs in each job that it counts, and saves bits', () => {
    fc.assert(
      fc.property(sessions, (all) => {
        const runs = runsOf(all);
        for (const { tools, support, gain } of mined(runs)) {
          const having = runs.filter(({ calls }) => {
            let next = 0;
            for (const { tool } of calls) if (tool === tools[next]) next++;
            return next === tools.length;
          });
          expect(support).toBeGreaterThanOrEqual(2);
          expect(support).toBeLessThanOrEqual(having.length);
          expect(gain).toBeGreaterThan(0);
          expect(new Set(tools).size).toBeGreaterThan(1);
        }
      }),
      options,
    );
  });

  test('[MINE-2] every argument of a step is given, or comes from a step before it', () => {
    fc.assert(
      fc.property(sessions, (all) => {
        for (const part of mined(runsOf(all))) {
          for (const step of part.tools.keys()) {
            const source = sourceOf(part, step, 'value');
            if (source.kind !== 'given') expect(source.step).toBeLessThan(step);
          }
          for (const { arguments: given } of part.examples) expect(given).toHaveLength(part.tools.length);
        }
      }),
      options,
    );
  });

  test('[MINE-4] the order of the sessions changes neither parts nor support', () => {
    fc.assert(
      fc.property(sessions, fc.nat(), (all, seed) => {
        const told = (runs: readonly RememberedRun[]) =>
          mined(runs)
            .map(({ key, support, gain, wiring }) =>
              JSON.stringify([key, support, gain, wiring.map((wired) => [...wired].sort())]),
            )
            .sort();
        const runs = runsOf(all);
        const other = runs
          .map((one, i) => [((i + 1) * 7919 + seed) % 104729, one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one);
        expect(told(other)).toEqual(told(runs));
      }),
      options,
    );
  });
});

test('[MINE-4] the number of counted kinds is bounded, and common parts are still found', () => {
  const miner = new PartMiner();
  for (let i = 0; i < 6_000; i++) {
    const rare = Array.from({ length: 4 }, (_, k) => ({
      tool: `rare:t${(i * 4 + k) % 9973}`,
      arguments: {},
    }));
    miner.add(run(`r${i}`, `r${i}`, rare));
    if (i % 50 === 0) for (const one of order(`c${i}`, `x-${i}`)) miner.add(one);
    expect(miner.size).toBeLessThanOrEqual(8_192);
  }
  const best = miner.parts()[0]!;
  expect(best.tools).toEqual(['shop:find', 'shop:order', 'shop:track']);
  expect(best.support).toBeLessThanOrEqual(120);
  expect(best.support).toBeGreaterThanOrEqual(118);
});
