import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { isEnd, type StartEvent } from '../../src/core/vocabulary/trace-event.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Sandbox, Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { openTestGateway } from '../support/open-test-gateway.ts';
import { readyCapability } from '../support/samples.ts';
import { settingsFor } from '../support/settings-for.ts';
import { NOBODY, tool } from '../support/test-gateway.ts';

const RUNS = proofRuns(10_000, 0.02);
const DEPTH = 4;

/** A call, and what it calls in turn: groups one after another, the calls of a group at once. */
interface Tree {
  readonly label: string;
  readonly delayMs: number;
  /** Absent: a tool. */
  readonly groups?: readonly (readonly Tree[])[];
}

/** Runs the tree it is given; one capability per level, since none may call itself. */
const LEVEL = (level: number) => `
const call = (tree) =>
  tree.groups ? capabilities.level_${level + 1}(tree) : mcp.work.step({ label: tree.label, delayMs: tree.delayMs });
for (const group of args.groups) await Promise.all(group.map(call));
return args.label;
`;

const trees = (level: number): fc.Arbitrary<Tree> => {
  const leaf = fc.record({ label: fc.constant(''), delayMs: fc.integer({ min: 0, max: 3 }) });
  if (level >= DEPTH) return leaf;
  const inner = fc.record({
    label: fc.constant(''),
    delayMs: fc.constant(0),
    groups: fc.array(fc.array(trees(level + 1), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
  });
  return fc.oneof({ weight: 2, arbitrary: leaf }, { weight: level === 0 ? 8 : 2, arbitrary: inner });
};

let gateway: Gateway;
let store: Store;
let sandbox: Sandbox;

beforeAll(async () => {
  store = createMemoryStore();
  for (let level = 1; level <= DEPTH; level++) {
    await store.capabilities.put(readyCapability({ slug: `level_${level}`, code: LEVEL(level) }));
  }
  sandbox = createSandbox();
  const step = tool('step', ({ delayMs, label }) => setTimeout(Number(delayMs), label));
  const { sandbox: limits } = settingsFor([]);
  const settings = {
    learning: { enabled: false },
    // Some trees have hundreds of calls, and a busy machine computes slowly: limits are not what is tested.
    sandbox: { ...limits, callsTotal: 10_000, wallMs: 120_000, cpuMs: 60_000 },
  };
  ({ gateway } = await openTestGateway({
    servers: [{ name: 'work', tools: [step] }],
    settings,
    store,
    sandbox,
  }));
  return () => gateway.close();
});

/** Unique labels of calls, and which call made each. */
function labelled(
  tree: Tree,
  label: string,
  parents: Map<string, string | null>,
  parent: string | null,
): Tree {
  parents.set(label, parent);
  const groups = tree.groups?.map((group, g) =>
    group.map((child, c) => labelled(child, `${label}.${g}${c}`, parents, label)),
  );
  return { ...tree, label, ...(groups && { groups }) };
}

test(`[CODE-1] ${RUNS} random trees of nested, parallel calls are recorded with the parents they had`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(trees(0), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
      async (groups) => {
        const parents = new Map<string, string | null>();
        const root = labelled({ label: '', delayMs: 0, groups }, 'r', parents, null);
        parents.delete('r');
        const run = await gateway.executeCode({ code: LEVEL(0), arguments: { ...root } }, NOBODY);
        expect(run.error).toBeUndefined();
        const trace = await store.traces.get(run.traceId ?? '');
        const starts = trace!.events.filter(
          (event): event is StartEvent => !isEnd(event) && labelOf(event) !== '',
        );
        const labelById = new Map(starts.map((event) => [event.traceId, labelOf(event)]));
        const recorded = starts.map((event) => [
          labelOf(event),
          labelById.get(event.parentTraceId ?? '') ?? 'r',
        ]);
        expect(new Map(recorded as [string, string][])).toEqual(parents);
        expect(starts.length).toBe(parents.size);
        await store.traces.remove([trace!.id]);
      },
    ),
    { numRuns: RUNS, seed: proofSeed() },
  );
}, 1_800_000);

function labelOf({ args }: StartEvent): string {
  return String((args as { label?: string } | undefined)?.label ?? '');
}
