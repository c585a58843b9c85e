import type { CallExpression } from 'oxc-parser';
import type { DraftNode } from '../emit/draft.ts';
import type { Waiting } from '../emit/static-structure.ts';
import type { Analysis, Arguments } from './analysis.ts';
import { runBranches } from './branches.ts';
import { evaluateArguments, isListed } from './evaluate-literal.ts';
import {
  endsOf,
  join,
  NOTHING_KNOWN,
  objectValue,
  type PromiseValue,
  UNDEFINED,
  union,
  unknownFrom,
  type Value,
} from './value.ts';

const WAITING: Readonly<Record<string, Waiting>> = {
  'Promise.all': 'all',
  'Promise.allSettled': 'allSettled',
  'Promise.race': 'race',
  'Promise.any': 'any',
};

export const waitingOf = (name: string): Waiting | undefined => WAITING[name];

export const isThen = (name: string): boolean => name === 'then' || name === 'catch' || name === 'finally';

/**
 * `Promise.all([…])`: a fork, the calls that run in parallel, a join. Calls that began earlier and are
 * only awaited here belong to the fork as well.
 */
export function callPromise(a: Analysis, call: CallExpression, wait: Waiting): PromiseValue {
  const begins = a.flow.frontier;
  const fork = a.flow.step(call, { type: 'fork', wait }, call.start);
  let list: Value = NOTHING_KNOWN;
  const exit = a.flow.inside({ node: fork, type: 'contains' }, () => {
    list = evaluateArguments(a, call.arguments).values[0] ?? NOTHING_KNOWN;
  });
  const ends = endsOf(list);
  for (const node of ends) if (!isWithin(node, fork)) a.draft.connect(fork, node, 'contains');
  const done = union(
    ends,
    exit.frontier.filter((node) => node !== fork),
  );
  a.flow.frontier = done.length > 0 ? done : [fork];
  const last = a.flow.step(call.callee, { type: 'join', wait }, call.end - 1);
  a.flow.frontier = begins;
  return { kind: 'promise', value: gathered(wait, list), ends: [last], begins };
}

function isWithin(node: DraftNode, head: DraftNode): boolean {
  for (let at = node.head; at; at = at.node.head) if (at.node === head) return true;
  return false;
}

function gathered(wait: Waiting, list: Value): Value {
  if (!isListed(list)) return { ...unknownFrom(list), ends: [] };
  const values = [...list.props.values()].map((cell) => awaited(cell.value ?? UNDEFINED));
  if (wait === 'race' || wait === 'any') return values.reduce(join, values[0] ?? NOTHING_KNOWN);
  const array = objectValue(true);
  for (const [index, value] of values.entries()) {
    array.props.set(String(index), { value: wait === 'all' ? value : settled(value) });
  }
  return array;
}

function settled(value: Value): Value {
  const outcome = objectValue(false);
  const { sources } = unknownFrom(value);
  outcome.props.set('status', { value: { ...NOTHING_KNOWN, sources } });
  outcome.props.set('value', { value });
  outcome.props.set('reason', { value: { ...NOTHING_KNOWN, sources } });
  return outcome;
}

/** The value of `await value`. */
export function awaited(value: Value): Value {
  if (value.kind === 'promise') return awaited(value.value);
  return value.kind === 'unknown' && value.ends.length > 0 ? { ...value, ends: [] } : value;
}

/** `promise.then(f, g)`, `.catch(g)`, `.finally(f)`: the functions run after the promise. */
export function callThen(
  a: Analysis,
  call: CallExpression,
  promise: Value,
  name: string,
  { values }: Arguments,
): PromiseValue {
  const begins = a.flow.frontier;
  const value = awaited(promise);
  if (promise.kind === 'promise') a.flow.settle(promise.begins, promise.ends);
  const [first, second] = values;
  const onDone = name === 'then' ? first : undefined;
  const onFail = name === 'then' ? second : name === 'catch' ? first : undefined;
  let result = onDone ? follow(a, call, onDone, [value]) : value;
  if (onFail) result = join(result, recover(a, call, onFail));
  if (name === 'finally' && first) follow(a, call, first, []);
  const ends = a.flow.frontier.filter((node) => !begins.includes(node));
  a.flow.frontier = begins;
  return { kind: 'promise', value: result, ends, begins };
}

/** Calls a function in the flow and awaits its result. */
function follow(a: Analysis, call: CallExpression, fn: Value, values: readonly Value[]): Value {
  if (fn.kind !== 'function') return unknownFrom(...values);
  // The function is called later.
  const answer = a.memory.maybe(() => a.invoke({ fn, args: { values, more: null, texts: [] }, call }));
  if (answer.kind === 'promise') a.flow.settle(answer.begins, answer.ends);
  return awaited(answer);
}

/** The handler of a failed promise is a branch, if there are steps in it. */
function recover(a: Analysis, call: CallExpression, fn: Value): Value {
  let value: Value = NOTHING_KNOWN;
  const content = { type: 'decision', condition: 'try' } as const;
  a.flow.stepIfUsed(call, content, call.start, (head) => {
    const run = () => {
      value = follow(a, call, fn, [NOTHING_KNOWN]);
    };
    runBranches(a, head, [{ head: { node: head, type: 'conditional', branch: 'catch' }, run }], true);
  });
  return value;
}
