import type { CallExpression } from 'oxc-parser';
import type { DraftNode } from '../emit/draft.ts';
import type { Waiting } from '../emit/static-structure.ts';
import { type Analysis, evaluateArguments } from './analysis.ts';
import {
  endsOf,
  isListed,
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
