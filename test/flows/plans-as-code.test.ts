import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeToPlan } from '../../src/core/planning/code/code-to-plan.ts';
import { conditionsOf } from '../../src/core/planning/code/plan-draft.ts';
import { planToCode } from '../../src/core/planning/code/plan-to-code.ts';
import { referencedTasks } from '../../src/core/planning/plan/references.ts';
import { layersOf, usedTasks, withUsedTasks } from '../../src/core/planning/plan/validate-plan.ts';
import type { Condition, Plan, Task } from '../../src/core/vocabulary/plan.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { RunResult } from '../../src/engine/runs/run.ts';
import { createMemoryStore } from '../memory/store.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { DISK, randomPlan, TWICE } from '../support/random-plans.ts';
import { NOBODY, testGateway } from '../support/test-gateway.ts';

const onlyReads = ({ tool }: { tool?: string }) => tool === 'disk:read';

async function open() {
  const store = createMemoryStore();
  await store.capabilities.put(TWICE);
  const { gateway } = await testGateway({
    servers: [DISK],
    store,
    settings: { learning: { enabled: false } },
  });
  return gateway;
}

test('[ASPLAN-1] any plan prints as code with the same result', async () => {
  const gateway = await open();
  await fc.assert(
    fc.asyncProperty(randomPlan, async (plan) => {
      const planned = await gateway.executeWorkflow(plan, null, NOBODY);
      const coded = await gateway.executeCode({ code: planToCode(plan), arguments: {} }, NOBODY);
      expect(coded.error).toBeUndefined();
      expect(coded.result ?? null).toEqual(lastResults(plan, planned));
    }),
    { numRuns: proofRuns(400), seed: proofSeed(), endOnFailure: true },
  );
});

test('[ASPLAN-2] the code of a plan is read as an equivalent plan with the same result', async () => {
  const gateway = await open();
  await fc.assert(
    fc.asyncProperty(randomPlan, async (plan) => {
      const code = planToCode(plan);
      const read = codeToPlan(code, { onlyReads });
      if (!read.ok) throw new Error(`${read.reasons.join('\n')}\n${code}`);
      expectEquivalent(withUsedTasks(plan), withUsedTasks(read.plan));
      const before = await gateway.executeWorkflow(plan, null, NOBODY);
      const after = await gateway.executeAsPlan({ code }, NOBODY);
      expect(after.status).toBe('success');
      expect(after.result ?? null).toEqual(lastResults(plan, before));
    }),
    { numRuns: proofRuns(400), seed: proofSeed(), endOnFailure: true },
  );
});

/** What the tasks gave that no other waits for; nothing for those that were skipped. */
function lastResults(plan: Plan, { status, results }: RunResult): unknown {
  expect(status).toBe('success');
  const used = new Set(withUsedTasks(plan).tasks.flatMap(({ dependsOn }) => dependsOn));
  const last = plan.tasks.filter(({ id }) => !used.has(id));
  const gave = ({ id }: Task) => (results[id] as { result?: unknown }).result;
  if (last.length === 1) return gave(last[0]!) ?? null;
  const pairs = last.map((task) => [task.id, gave(task)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/**
 * The same tasks with the same arguments, loops and conditions, whatever they are called; nothing with effects in
 * another order, and nothing that waits for what it neither uses nor must not overtake.
 */
function expectEquivalent(before: Plan, after: Plan): void {
  const order = layersOf(before.tasks).flat();
  const ids = after.tasks.map(({ id }) => id);
  expect(ids).toHaveLength(order.length);
  const nameOf = (id: string) => order[ids.indexOf(id)] ?? id;
  const taskOf = (id: string) => before.tasks.find((task) => task.id === id)!;
  const waitsFor = reachOf(after, nameOf);
  for (const [i, id] of order.entries()) {
    const task = taskOf(id);
    const found = after.tasks[i]!;
    expect(shown(found, nameOf)).toEqual(shown(task, (name) => name));
    const mayWaitFor = new Set([
      ...task.dependsOn,
      ...order.filter((one) => writes(taskOf(one)) || writes(task)),
    ]);
    const known = new Set(order);
    for (const one of found.dependsOn.map(nameOf)) expect(mayWaitFor).toContain(one);
    for (const one of task.dependsOn) {
      const counts = writes(taskOf(one)) || writes(task) || usedTasks(task, known).includes(one);
      if (counts || task.code !== undefined) expect(waitsFor(id)).toContain(one);
    }
  }
}

function writes({ tool, capability }: Task): boolean {
  return tool === 'disk:write' || capability !== undefined;
}

function shown(task: Task, nameOf: (id: string) => string): unknown {
  const { id: _, dependsOn: __, when, ...rest } = task;
  const text = JSON.stringify({ ...rest, when: needed(task, conditionsOf(when)) });
  return JSON.parse(
    text.replaceAll(/\$\{([^.[\]{}]+)/g, (_all, root: string) => `\${${nameOf(root)}`),
  ) as JsonObject;
}

/** Whether a task ran that is used anyway need not be asked. */
function needed(task: Task, conditions: readonly Condition[]): string[] {
  const isAsked = (one: Condition): one is { exists: string } =>
    typeof one === 'object' && 'exists' in one && /^\$\{[^.[]+\}$/.test(one.exists);
  const others = conditions.filter((one) => !isAsked(one));
  const used = referencedTasks([task.arguments, task.forEach, others]);
  const left = conditions.filter((one) => !(isAsked(one) && used.some((id) => one.exists === `\${${id}}`)));
  return [...new Set(left.map((one) => JSON.stringify(one)))].sort();
}

/** All that a task waits for, directly or not. */
function reachOf({ tasks }: Plan, nameOf: (id: string) => string): (id: string) => string[] {
  const before = new Map(tasks.map(({ id, dependsOn }) => [nameOf(id), dependsOn.map(nameOf)]));
  const reach = (id: string): string[] => (before.get(id) ?? []).flatMap((one) => [one, ...reach(one)]);
  return reach;
}
