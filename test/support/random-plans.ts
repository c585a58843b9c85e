import fc from 'fast-check';
import { COMPARISONS, type Condition, type Plan, type Task } from '../../src/core/vocabulary/plan.ts';
import { readyCapability } from './samples.ts';
import { tool } from './test-gateway.ts';
import type { LooseTask } from './workflow-plan.ts';

/** The result of every task of a random plan, so that others can refer to it. */
const GIVEN = (args: unknown) => ({
  n: JSON.stringify(args).length,
  items: [{ id: 'first' }, { id: 'second' }],
  'odd name': JSON.stringify(args),
});

export const DISK = {
  name: 'disk',
  tools: [
    tool('read', GIVEN, { annotations: { readOnlyHint: true } }),
    tool('write', GIVEN, { annotations: { readOnlyHint: false } }),
  ],
};
export const TWICE = readyCapability({
  slug: 'twice',
  code: 'return { n: 2, items: [{ id: args.a ?? 0 }, { id: 1 }], "odd name": "x" };',
});
const CODE = [
  'return { n: deps ? Object.keys(deps).length : 0, items: [{ id: args }, { id: 1 }], "odd name": "y" }',
  '// what came before\nconst n = Object.values(deps ?? {}).length;\nreturn { n, items: [{ id: n }, { id: JSON.stringify(deps) }], "odd name": args };',
  'const { n } = await mcp.disk.read({ by: "code" });\nreturn { n, items: [{ id: 3 }, { id: 4 }], "odd name": "`${n}`" }',
];
const IDS = ['list', 'at', 'T-1', 'read', 'class', 'x-2', 'Math', '2nd'];

const scalar = fc.oneof(
  fc.constantFrom('', 'plain', 'a `b` $ {c} \\', 'it\'s\n"so"', '<script>'),
  fc.integer({ min: -5, max: 50 }),
  fc.constantFrom(true, false, null),
);

/** A path into the result of a task. */
const step = fc.constantFrom('', '.n', '.items', '.items[0].id', '["odd name"]');
/** A path that may not resolve. */
const looseStep = fc.oneof(step, fc.constantFrom('.nothing', '.items[7].id', '.n.x'));

function referenceTo(before: readonly Task[], steps: fc.Arbitrary<string> = step): fc.Arbitrary<string> {
  const places = fc.constantFrom(...before);
  return fc
    .tuple(places, steps)
    .map(([{ id, forEach }, path]) => `\${${id}${forEach === undefined ? path : ''}}`);
}

function argument(before: readonly Task[], isEach: boolean): fc.Arbitrary<unknown> {
  const own = isEach ? [fc.constantFrom('${item}', '${index}', 'no ${index}: ${item}')] : [];
  const input = fc.constantFrom('${folder}', 'in ${folder}!');
  const leaf = fc.oneof(
    scalar,
    input,
    ...own,
    ...(before.length > 0
      ? [referenceTo(before), referenceTo(before).map((one) => `<${one}> and ${one}`)]
      : []),
  );
  return fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('k', 'odd key', 'true'), leaf),
  );
}

function condition(before: readonly Task[]): fc.Arbitrary<Condition> {
  const reference = referenceTo(before, looseStep);
  const side = fc.oneof(scalar, reference);
  const compared = fc
    .tuple(reference, fc.constantFrom(...COMPARISONS), side)
    .map(([value, how, other]) => ({ value, [how]: other }));
  const leaf: fc.Arbitrary<Condition> = fc.oneof(
    reference,
    reference.map((exists) => ({ exists })),
    compared,
  );
  return fc.oneof(
    leaf,
    leaf.map((not) => ({ not })),
    fc.array(leaf, { minLength: 2, maxLength: 2 }).map((all) => ({ all })),
    fc.array(leaf, { minLength: 2, maxLength: 2 }).map((any) => ({ any })),
  );
}

function randomTask(id: string, before: readonly Task[]): fc.Arbitrary<LooseTask> {
  const body = fc.constantFrom(
    { tool: 'disk:read' },
    { tool: 'disk:read' },
    { tool: 'disk:write' },
    { capability: 'twice' },
    ...CODE.map((code) => ({ code })),
    { code: CODE[0]!, name: 'counted' },
  );
  const lists = [
    fc.constant([1, 'two']),
    ...before
      .filter(({ forEach }) => forEach === undefined)
      .map(({ id: of }) => fc.constant(`\${${of}.items}`)),
  ];
  return fc.boolean().chain((isEach) =>
    fc
      .record({
        body,
        args: fc.dictionary(fc.constantFrom('a', 'b', 'odd arg'), argument(before, isEach), { maxKeys: 3 }),
        dependsOn: fc.subarray(before.map((task) => task.id)),
        forEach: isEach ? fc.oneof(...lists) : fc.constant(undefined),
        when:
          before.length === 0
            ? fc.constant(undefined)
            : fc.option(condition(before), { nil: undefined, freq: 2 }),
      })
      .map(({ body: what, args, dependsOn, forEach, when }) => ({
        ...what,
        id,
        arguments: args,
        dependsOn,
        ...(forEach !== undefined && { forEach }),
        ...(when !== undefined && { when }),
      })),
  );
}

/** Valid plans of up to six tasks, with every kind of task, reference, loop and condition. */
export const randomPlan: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 6 }).chain((count) => {
  let tasks: fc.Arbitrary<readonly Task[]> = fc.constant([]);
  for (let i = 0; i < count; i++) {
    tasks = tasks.chain((before) => randomTask(IDS[i]!, before).map((task) => [...before, task as Task]));
  }
  return tasks.map((all) => ({
    tasks: all,
    inputs: [{ name: 'folder', schema: {} }],
    arguments: { folder: 'notes' },
  }));
});
