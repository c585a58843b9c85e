import { COMPARISONS, type Condition, type Plan, type PlanInput, type Retry, type Task } from './plan.ts';
import { PmlError } from './pml-error.ts';
import {
  anything,
  boolean,
  type Fields,
  fieldsOf,
  idOf,
  listOf,
  numberFrom,
  oneOf,
  type Read,
  string,
  wrong,
} from './read-wire.ts';

const LIMITS = {
  tasks: 1_000,
  idLength: 64,
  attempts: 10,
  delayMs: 60_000,
  timeoutMs: 24 * 60 * 60_000,
  concurrency: 256,
  /** Nesting depth of conditions. */
  depth: 16,
};

const EXAMPLE =
  '{"tasks": [{"id": "a", "tool": "filesystem:read_file", "arguments": {"path": "/tmp/a.txt"}, "depends_on": []}]}';

/** Reads a plan as programs and people write it, in snake_case. Reports all problems at once, task by task. */
export function planFromWire(wire: unknown): Plan {
  const problems: string[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      problems.push(PmlError.from(error).message);
      return undefined;
    }
  };
  const fields = attempt(() => fieldsOf(parsed(wire), 'workflow'));
  const told = fields && attempt(() => fields.get('tasks', listOf(anything, LIMITS.tasks)));
  const tasks = (told ?? []).flatMap((task, i) => attempt(() => taskOf(task, `workflow.tasks[${i}]`)) ?? []);
  const head = fields && attempt(() => headOf(fields));
  if (problems.length > 0) {
    throw new PmlError('invalid_argument', problems.join('; '), { hint: `For example ${EXAMPLE}.` });
  }
  return { tasks, inputs: [], ...head };
}

function headOf(fields: Fields): Omit<Plan, 'tasks'> {
  return {
    inputs: fields.maybe('inputs', listOf(inputOf)).inputs ?? [],
    ...fields.maybe('arguments', object),
    ...fields.maybe('concurrency', wholeFrom(1, LIMITS.concurrency)),
    ...fields.maybe('decide', oneOf(['layers'] as const)),
    ...fields.maybe('result', anything),
  };
}

function taskOf(value: unknown, at: string): Task {
  const fields = fieldsOf(value, at);
  const id = fields.get('id', idOf(LIMITS.idLength));
  const bodies = { ...fields.maybe('tool', string), ...fields.maybe('capability', string) };
  const body = { ...bodies, ...fields.maybe('code', string) };
  if (Object.keys(body).length !== 1) throw wrong(at, 'must have exactly one of tool, capability and code');
  const timeout = fields.maybe('timeout_ms', wholeFrom(1, LIMITS.timeoutMs)).timeout_ms;
  const forEach = fields.maybe('for_each', anything).for_each;
  return {
    ...(body as { readonly tool: string }),
    id,
    arguments: fields.maybe('arguments', object).arguments ?? {},
    dependsOn: fields.maybe('depends_on', listOf(string)).depends_on ?? [],
    ...fields.maybe('reason', string),
    ...fields.maybe('confidence', numberFrom(0, 1)),
    ...fields.maybe('name', string),
    ...fields.maybe('retry', retryOf),
    ...fields.maybe('idempotent', boolean),
    ...fields.maybe('when', conditionOf),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(forEach !== undefined && { forEach }),
  };
}

const inputOf: Read<PlanInput> = (value, at) => {
  const fields = fieldsOf(value, at);
  return {
    name: fields.get('name', string),
    schema: fields.maybe('schema', anything).schema ?? {},
    ...fields.maybe('description', string),
  };
};

/** `3`, or `{attempts: 3, delay_ms: 500}`. */
const retryOf: Read<Retry> = (value, at) => {
  const attempts = wholeFrom(1, LIMITS.attempts);
  if (typeof value === 'number') return { attempts: attempts(value, at), delayMs: 0 };
  const fields = fieldsOf(value, at);
  const { delay_ms: delayMs = 0 } = fields.maybe('delay_ms', numberFrom(0, LIMITS.delayMs));
  return { attempts: fields.get('attempts', attempts), delayMs };
};

const conditionOf: Read<Condition> = (value, at) => readCondition(value, at, 0);

function readCondition(value: unknown, at: string, depth: number): Condition {
  if (typeof value === 'string') return value;
  if (depth > LIMITS.depth) throw wrong(at, 'is nested too deeply');
  const fields = fieldsOf(value, at);
  const inner: Read<Condition> = (one, place) => readCondition(one, place, depth + 1);
  const names = Object.keys(value as object);
  const [only = ''] = names;
  if (names.length === 1 && only === 'all') return { all: fields.get('all', listOf(inner)) };
  if (names.length === 1 && only === 'any') return { any: fields.get('any', listOf(inner)) };
  if (names.length === 1 && only === 'not') return { not: fields.get('not', inner) };
  if (names.length === 1 && only === 'exists') return { exists: fields.get('exists', string) };
  const compared = names.filter((name) => (COMPARISONS as readonly string[]).includes(name));
  if (names.length === 2 && names.includes('value') && compared.length === 1)
    return value as { readonly value: unknown };
  throw wrong(
    at,
    `must be a reference, {value, ${COMPARISONS.join(' | ')}}, {exists}, {not}, {all: […]} or {any: […]}`,
  );
}

/** Models sometimes pass an object as JSON text. */
const object: Read<Readonly<Record<string, unknown>>> = (value, at) => {
  const given = parsed(value);
  fieldsOf(given, at);
  return given as Readonly<Record<string, unknown>>;
};

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function wholeFrom(least: number, most: number): Read<number> {
  const inRange = numberFrom(least, most);
  return (value, at) => {
    const number = inRange(value, at);
    if (!Number.isInteger(number)) throw wrong(at, 'must be a whole number');
    return number;
  };
}

/** A plan in snake_case, as programs and people read it; `planFromWire` accepts it. */
export function planToWire({ tasks, notKept: _, ...head }: Plan) {
  return { ...head, tasks: tasks.map(taskToWire) };
}

function taskToWire({ dependsOn, timeoutMs, forEach, retry, ...task }: Task) {
  return {
    ...task,
    depends_on: dependsOn,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(forEach !== undefined && { for_each: forEach }),
    ...(retry && { retry: { attempts: retry.attempts, delay_ms: retry.delayMs } }),
  };
}
