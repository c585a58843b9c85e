import type { CallExpression } from 'oxc-parser';
import { type OperationId, operationId } from '../../vocabulary/ids.ts';
import type { DraftNode } from '../emit/draft.ts';
import type { Analysis, Arguments } from './analysis.ts';
import { taint } from './assign.ts';
import { provide } from './branches.ts';
import { callApi } from './call-api.ts';
import { spreadInto } from './evaluate-literal.ts';
import { repeat } from './execute-control.ts';
import { NOTHING_KNOWN, objectsOf, reachOf, union, unknownFrom, type Value } from './value.ts';
import { elementOf } from './value-members.ts';

/**
 * The traced operations of user code on data: the language's own functions, recognised by name.
 * Whether `x.filter` really is the language's own function is checked at run time.
 */

/** Methods of arrays, strings and similar objects; the operation is named after the method. */
const METHODS: ReadonlySet<string> = new Set(
  `at concat entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach includes
  indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice toReversed
  toSorted toSpliced unshift values
  charAt endsWith match matchAll padEnd padStart repeat replace replaceAll search split startsWith substring
  toLowerCase toUpperCase trim trimEnd trimStart`.split(/\s+/),
);

/** Functions of one of the language's objects: `Object.keys`. */
const STATICS: ReadonlySet<string> = new Set(
  `Array.from Array.isArray Array.of
  JSON.parse JSON.stringify
  Math.abs Math.ceil Math.floor Math.max Math.min Math.pow Math.round Math.sqrt Math.trunc
  Number.isFinite Number.isInteger Number.isNaN Number.parseFloat Number.parseInt
  Object.assign Object.entries Object.fromEntries Object.groupBy Object.keys Object.values`.split(/\s+/),
);

/** Global functions that are the same as one of the above. */
const GLOBALS: Readonly<Record<string, string>> = {
  parseFloat: 'Number.parseFloat',
  parseInt: 'Number.parseInt',
};

/** The result consists of what the callback returns. */
const ANSWER_MAKES_RESULT: ReadonlySet<string> = new Set([
  'Array.from',
  'flatMap',
  'map',
  'reduce',
  'reduceRight',
]);

/** They add values without reading the existing ones. */
const ADDERS: ReadonlySet<string> = new Set(['push']);

/** They change the array in place. */
const REARRANGERS: ReadonlySet<string> = new Set('fill pop reverse shift sort splice unshift'.split(' '));

/** They call a function argument while they run. */
const TAKE_FUNCTION: ReadonlySet<string> = new Set(
  `every filter find findIndex findLast findLastIndex flatMap forEach map reduce reduceRight replace replaceAll
  some sort toSorted Array.from JSON.parse JSON.stringify Object.groupBy`.split(/\s+/),
);

/** The callback gets the accumulator first, then the element. */
const FOLDS: ReadonlySet<string> = new Set(['reduce', 'reduceRight']);

/** All operations, as in `code:<name>`. */
export const OPERATIONS: readonly string[] = [...METHODS, ...STATICS];

/** A task called `filter` does something of its own, not what `code:filter` does in every program. */
export function namedTask(name: string): OperationId {
  return operationId(OPERATIONS.some((known) => known === name) ? `task.${name}` : name);
}

export const isMethodOperation = (name: string): boolean => METHODS.has(name);
export const isStaticOperation = (name: string): boolean => STATICS.has(name);
export const globalOperation = (name: string): string | null =>
  Object.hasOwn(GLOBALS, name) ? GLOBALS[name]! : null;
const answerMakesResult = (name: string): boolean => ANSWER_MAKES_RESULT.has(name);
const isAdder = (name: string): boolean => ADDERS.has(name);
const isRearranger = (name: string): boolean => REARRANGERS.has(name);
const takesFunction = (name: string): boolean => TAKE_FUNCTION.has(name);
const isFold = (name: string): boolean => FOLDS.has(name);

/** `Object.keys(x)`, `parseInt(x)` */
export function callOperation(a: Analysis, call: CallExpression, name: string, args: Arguments): Value {
  const node = addOperation(a, call, name);
  const [first = NOTHING_KNOWN, ...others] = args.values;
  for (const value of [first, ...others, args.more]) if (value) provide(a, node, value);
  if (name === 'Object.assign' && first.kind === 'object') {
    for (const other of others) spreadInto(a, first, other);
    if (args.more) spreadInto(a, first, args.more);
    return first;
  }
  const answer = runBody(a, node, call, name, first, others);
  return resultOf(node, name, answer, unknownFrom(...args.values, args.more));
}

/** `xs.filter(f)` */
export function callMethodOperation(
  a: Analysis,
  call: CallExpression,
  receiver: Value,
  name: string,
  args: Arguments,
): Value {
  const node = addOperation(a, call, name);
  if (!isAdder(name)) provide(a, node, receiver);
  const given = unknownFrom(...args.values, args.more);
  provide(a, node, given);
  const answer = runBody(a, node, call, name, receiver, args.values);
  if (isAdder(name)) put(a, call, receiver, [...args.values, args.more]);
  else if (isRearranger(name)) rearrange(a, call, receiver, given);
  return resultOf(node, name, answer, receiver);
}

function addOperation(a: Analysis, call: CallExpression, name: string): DraftNode {
  const { callee } = call;
  const at = callee.type === 'MemberExpression' ? callee.property.start : call.start;
  const node = a.flow.step(call, { type: 'operation', operation: operationId(name) }, at);
  if (!a.marks.has(call)) {
    const chain = a.chains.get(call)?.chain ?? null;
    a.marks.set(call, { kind: 'operation', node, operation: name, call, chain });
  }
  return node;
}

/** A callback is the operation's body, repeated for the elements. Null if there is none. */
function runBody(
  a: Analysis,
  node: DraftNode,
  call: CallExpression,
  name: string,
  over: Value,
  args: readonly Value[],
): Value | null {
  const body = takesFunction(name)
    ? args.find((value) => value.kind === 'function' || value.kind === 'api')
    : null;
  if (!body) return null;
  const element = elementOf(over);
  const initial = isFold(name) ? unknownFrom(...args.filter((value) => value !== body)) : null;
  const values = initial ? [initial, element] : [element, NOTHING_KNOWN, over];
  const given: Arguments = { values, more: NOTHING_KNOWN, texts: [] };
  const outer = a.captures;
  a.captures = { since: a.declared, sources: new Set() };
  let answer: Value = NOTHING_KNOWN;
  a.flow.inside({ node, type: 'loop_body' }, () => {
    repeat(a, () => {
      answer =
        body.kind === 'function'
          ? a.invoke({ fn: body, args: given, call })
          : callApi(a, call.arguments[args.indexOf(body)] ?? call, body, given);
    });
  });
  for (const source of a.captures.sources) {
    if (!isWithin(source, node)) a.draft.connect(source, node, 'provides');
    outer?.sources.add(source);
  }
  a.captures = outer;
  a.flow.frontier = [node];
  return answer;
}

/** A result made of promises comes from the calls started in the body as well as from the operation. */
function resultOf(node: DraftNode, name: string, answer: Value | null, from: Value): Value {
  const reach = reachOf(from);
  if (reach !== null) return { ...NOTHING_KNOWN, sources: [node], reach };
  if (answer?.kind !== 'promise' || !answerMakesResult(name)) return { kind: 'result', node, path: '' };
  const sources = unknownFrom(answer.value).sources.filter((source) => isWithin(source, node));
  if (isFold(name)) {
    const value: Value = { ...NOTHING_KNOWN, sources: union([node], sources) };
    return { kind: 'promise', value, ends: answer.ends, begins: [] };
  }
  const element: Value = { ...answer, value: { ...NOTHING_KNOWN, sources } };
  return { kind: 'result', node, path: '', element };
}

function isWithin(node: DraftNode, head: DraftNode): boolean {
  for (let at = node.head; at; at = at.node.head) if (at.node === head) return true;
  return false;
}

function put(a: Analysis, call: CallExpression, receiver: Value, values: readonly (Value | null)[]): void {
  for (const object of objectsOf(receiver)) {
    object.isOpen = true;
    for (const value of values) if (value) a.memory.add(object.rest, value);
  }
  if (receiver.kind !== 'object') taintReceiver(a, call, unknownFrom(...values));
}

/** The array has the same elements, in unknown places. */
function rearrange(a: Analysis, call: CallExpression, receiver: Value, given: Value): void {
  const all = unknownFrom(receiver, given);
  for (const object of objectsOf(receiver)) {
    for (const cell of object.props.values()) a.memory.set(cell, all);
    a.memory.add(object.rest, all);
    object.isOpen = true;
  }
  if (receiver.kind !== 'object') taintReceiver(a, call, given);
}

function taintReceiver(a: Analysis, { callee }: CallExpression, value: Value): void {
  if (callee.type === 'MemberExpression') taint(a, callee.object, value);
}
