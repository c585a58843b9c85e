import { expect, test } from 'vitest';
import { type Condition, type Plan, planFromWire, planToWire, type Task } from '../../vocabulary/plan.ts';
import { holds } from './conditions.ts';
import { planProblems, type TaskTarget, withUsedTasks } from './validate-plan.ts';

const READ: TaskTarget = {
  name: 'files:read',
  schema: {
    type: 'object',
    properties: { path: { type: 'string' }, limit: { type: 'integer' } },
    required: ['path'],
    additionalProperties: false,
  },
  isRepeatable: true,
  problems: [],
};

const problemsOf = (tasks: Partial<Task>[], plan: Partial<Plan> = {}, target: Partial<TaskTarget> = {}) => {
  const whole = tasks.map((task, i) => ({
    id: `t${i}`,
    tool: 'files:read',
    arguments: { path: 'x' },
    dependsOn: [],
    ...task,
  })) as Task[];
  const { tasks: made, ...rest } = withUsedTasks({ tasks: whole, inputs: [], ...plan });
  return planProblems(
    { tasks: made, ...rest },
    made.map(() => ({ ...READ, ...target })),
  );
};

test('[FLOW-2] all problems of a plan are reported at once, each with its task', () => {
  const problems = problemsOf([
    { id: 'list', arguments: {} },
    { id: 'read', arguments: { path: '${lst.items}', limit: 'ten' }, dependsOn: ['lists'] },
    { id: 'read', arguments: { pat: 'x' } },
    { id: 'item', arguments: { path: '${index}' } },
  ]);
  expect(problems).toEqual([
    'two tasks have the id "read"',
    '"item" is reserved and cannot be a task id',
    'list (files:read) lacks the argument "path"',
    'read depends on "lists", which is not a task; did you mean "list"?',
    'read refers to "lst", which is not a task; did you mean "list"?',
    'read (files:read) takes a different "limit": must be a whole number, not a string',
    'read (files:read) lacks the argument "path"; "pat" is not one of its arguments',
    'read (files:read) has no argument "pat", only "path"',
    'item refers to "index", which only the arguments of a "for_each" have',
  ]);
  expect(problemsOf([{}, { arguments: { path: '${t0.text}' } }])).toEqual([]);
  expect(problemsOf([])).toEqual(['it has no tasks']);
});

test('[PLAN-2] a cycle of references is reported with its path', () => {
  const circle = problemsOf([{ arguments: { path: '${t1.x}' } }, { arguments: { path: '${t0.x}' } }]);
  expect(circle).toEqual([expect.stringMatching(/circle: t0 -> t1 -> t0$/)]);
  expect(problemsOf([{ arguments: { path: '${t0}' } }])).toContain('t0 refers to its own result');
});

test('[FLOW-2] inputs need values, lists must be lists, and only harmless calls are retried', () => {
  const inputs = [{ name: 'where', schema: { type: 'string' } }];
  const task = { arguments: { path: '${where}' } };
  expect(problemsOf([task], { inputs })).toEqual(['the input "where" has no value: give it in "arguments"']);
  expect(problemsOf([task], { inputs, arguments: { where: '/tmp' } })).toEqual([]);
  const retry = { attempts: 2, delayMs: 0 };
  expect(problemsOf([{ retry }])).toEqual([]);
  expect(problemsOf([{ retry }], {}, { isRepeatable: false })).toEqual([
    expect.stringMatching(/t0 cannot be retried: files:read may do harm/),
  ]);
  expect(problemsOf([{ retry, idempotent: true }], {}, { isRepeatable: false })).toEqual([]);
  expect(problemsOf([{ forEach: 'all' }])).toEqual([expect.stringMatching(/neither a list nor/)]);
  expect(problemsOf([{}, { forEach: '${t0.files}', arguments: { path: '${item}' } }])).toEqual([]);
  expect(problemsOf([{ forEach: [1], when: '${item}' }])).toEqual([
    expect.stringMatching(/refers to "item"/),
  ]);
});

test('[FLOW-10] a condition compares values with their types, and a dangling reference has no value', () => {
  const values = { a: { count: 3, name: 'x', tags: ['p', { q: 1 }], none: [], no: null } };
  const on = (condition: Condition) => holds(condition, values);
  expect(on('${a.count}')).toBe(true);
  expect(on('${a.none}') || on('${a.no}') || on('${a.gone}')).toBe(false);
  expect(on({ value: '${a.count}', equals: 3 })).toBe(true);
  expect(on({ value: '${a.count}', equals: '3' })).toBe(false);
  expect(on({ value: '${a.count}', at_least: 3 }) && !on({ value: '${a.count}', greater_than: 3 })).toBe(
    true,
  );
  expect(on({ value: '${a.name}', less_than: 4 })).toBe(false);
  expect(on({ value: '${a.tags}', contains: { q: 1 } })).toBe(true);
  expect(on({ value: '${a.name}', in: ['x', 'y'] })).toBe(true);
  expect(on({ value: '${a.gone}', not_equals: 1 })).toBe(true);
  expect(on({ exists: '${a.no}' }) && !on({ exists: '${a.gone.on}' })).toBe(true);
  expect(on({ all: ['${a.count}', { not: { any: ['${a.no}', '${a.gone}'] } }] })).toBe(true);
  expect(on({ value: '${a.name}', equals: '__proto__' })).toBe(false);
});

test('[FLOW-11] a workflow is read from JSON with all its fields, and problems are reported task by task', () => {
  const plan = planFromWire({
    tasks: [
      {
        id: 'a',
        tool: 'x:y',
        arguments: '{"n": 1}',
        timeout_ms: 50,
        retry: 3,
        when: { value: '${b}', in: [1] },
        for_each: [1],
        idempotent: true,
      },
      { id: 'b', code: 'return 1', name: 'sum', retry: { attempts: 2, delay_ms: 10 }, depends_on: ['a'] },
    ],
    inputs: [{ name: 'n' }],
    arguments: { n: 1 },
    concurrency: 2,
    decide: 'layers',
  });
  expect(plan).toEqual({
    tasks: [
      {
        id: 'a',
        tool: 'x:y',
        arguments: { n: 1 },
        dependsOn: [],
        timeoutMs: 50,
        retry: { attempts: 3, delayMs: 0 },
        when: { value: '${b}', in: [1] },
        forEach: [1],
        idempotent: true,
      },
      {
        id: 'b',
        code: 'return 1',
        name: 'sum',
        arguments: {},
        dependsOn: ['a'],
        retry: { attempts: 2, delayMs: 10 },
      },
    ],
    inputs: [{ name: 'n', schema: {} }],
    arguments: { n: 1 },
    concurrency: 2,
    decide: 'layers',
  });
  expect(planFromWire(planToWire(plan))).toEqual(plan);
  const broken = {
    tasks: [{}, { id: 'a' }, { id: 'b', tool: 'x:y', when: { value: 1, is: 2 } }],
    concurrency: 0,
  };
  expect(() => planFromWire(broken)).toThrow(
    /workflow\.tasks\[0\]\.id is missing; workflow\.tasks\[1\] must have exactly one of tool.*; workflow\.tasks\[2\]\.when must be .*; workflow\.concurrency must be a number from 1/,
  );
  expect(() => planFromWire('nothing')).toThrow(/workflow must be an object/);
  let deep: unknown = '${a}';
  for (let i = 0; i < 99; i++) deep = { not: deep };
  expect(() => planFromWire({ tasks: [{ id: 'a', tool: 'x:y', when: deep }] })).toThrow(/too deeply/);
});
