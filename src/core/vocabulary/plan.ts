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
/** What a task runs: exactly one of a tool, a capability (by slug) or code. */
export type TaskBody =
  | { readonly tool: string; readonly capability?: never; readonly code?: never }
  | { readonly capability: string; readonly tool?: never; readonly code?: never }
  | { readonly code: string; readonly tool?: never; readonly capability?: never };

export type Task = TaskBody & {
  readonly id: string;
  /** `"${t1.items[0].id}"` as the whole string is replaced by the value with its type; inside text, by its text. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly dependsOn: readonly string[];
  readonly reason?: string;
  readonly confidence?: number;
  /** Name of a code task in traces and graph: `code:<name>` instead of `code:task`. */
  readonly name?: string;
  /** Time limit of one attempt. */
  readonly timeoutMs?: number;
  /** Only allowed for tasks that may be called twice. */
  readonly retry?: Retry;
  /** Calling the task twice does no harm, whatever the tool's own hints say. */
  readonly idempotent?: boolean;
  /** The task is skipped when this condition is false. */
  readonly when?: Condition;
  /** Runs once per item of a list, given directly or by a reference; `${item}` and `${index}` refer to the item. */
  readonly forEach?: unknown;
};

export interface Retry {
  /** Total number of attempts, including the first. */
  readonly attempts: number;
  /** Delay before the second attempt, in milliseconds; doubled before each further one. */
  readonly delayMs: number;
}

export const COMPARISONS = [
  'equals',
  'not_equals',
  'greater_than',
  'at_least',
  'less_than',
  'at_most',
  'contains',
  'in',
] as const;
export type Comparison = (typeof COMPARISONS)[number];

/**
 * Plain data instead of an expression, so that no input value is ever evaluated as code.
 * A bare reference is true unless it gives false, null, 0, an empty text or list, or does not resolve.
 */
export type Condition =
  | string
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  /** Whether a reference resolves. */
  | { readonly exists: string }
  /** `{value: "${t1.count}", at_least: 3}`; both sides may hold references. */
  | ({ readonly value: unknown } & { readonly [C in Comparison]?: unknown });

export interface PlanInput {
  readonly name: string;
  readonly schema: unknown;
  readonly description?: string;
}

/** Always acyclic. */
export interface Plan {
  readonly tasks: readonly Task[];
  readonly inputs: readonly PlanInput[];
  /** Values of the inputs, by name. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Most tasks that run at the same time. */
  readonly concurrency?: number;
  /** `layers`: the run stops after each layer, and the agent decides whether to continue. */
  readonly decide?: 'layers';
  /** What the plan as code returns, with references; absent: what the last tasks gave. */
  readonly result?: unknown;
  /** In a stored plan: ids of tasks whose content was not stored because it held secrets. */
  readonly notKept?: readonly string[];
}

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
