import type {
  CallExpression,
  Expression,
  MemberExpression,
  NewExpression,
  Span,
  TaggedTemplateExpression,
} from 'oxc-parser';
import { type Analysis, type Arguments, evaluateArguments } from './analysis.ts';
import { taint } from './assign.ts';
import { runBranches } from './branches.ts';
import { callApi, callBound, leaveCall } from './call-api.ts';
import {
  callMethodOperation,
  callOperation,
  globalOperation,
  isMethodOperation,
  isStaticOperation,
} from './call-operation.ts';
import { awaited, callPromise, waitingOf } from './call-promise.ts';
import { instantiate } from './evaluate-class.ts';
import { keyName } from './evaluate-literal.ts';
import type { Exit } from './flow.ts';
import {
  type FunctionValue,
  join,
  NOTHING_KNOWN,
  objectsOf,
  objectValue,
  type PromiseValue,
  reachOf,
  type UnknownValue,
  unknownFrom,
  type Value,
} from './value.ts';
import { member } from './value-members.ts';

export function evaluateCall(a: Analysis, node: CallExpression): Value {
  const callee = bare(node.callee);
  if (callee.type !== 'MemberExpression') {
    const value = callee.type === 'Super' ? NOTHING_KNOWN : a.evaluate(callee);
    return callValue(a, node, value, evaluateArguments(a, node.arguments));
  }
  const object = a.evaluate(callee.object);
  const name =
    !callee.computed && callee.property.type === 'PrivateIdentifier'
      ? `#${callee.property.name}`
      : keyName(a, callee.property, callee.computed);
  return name === null ? callDynamic(a, node, callee, object) : callMember(a, node, callee, object, name);
}

/** A template tag is a function that is called with the template's parts. */
export function evaluateTagged(a: Analysis, node: TaggedTemplateExpression): Value {
  const tag = a.evaluate(node.tag);
  const values = node.quasi.expressions.map((each) => a.evaluate(each));
  return callUnknown(a, node, tag, { values: [NOTHING_KNOWN, ...values], more: null, texts: [] });
}

export function evaluateNew(a: Analysis, node: NewExpression): Value {
  const callee = a.evaluate(node.callee);
  const args = evaluateArguments(a, node.arguments);
  if (callee.kind === 'object' && callee.class) return instantiate(a, callee, args, node);
  const given = callUnknown(a, node, callee, args);
  const made = objectValue(false);
  made.isOpen = true;
  a.memory.add(made.rest, given);
  return made;
}

function callMember(
  a: Analysis,
  node: CallExpression,
  callee: MemberExpression,
  object: Value,
  name: string,
): Value {
  const isTraced = isMethodOperation(name) && isPlain(a, node, callee);
  if (object.kind === 'global') {
    const full = `${object.name}.${name}`;
    if (!isTraced || isStaticOperation(full)) return callStatic(a, node, full);
  }
  const own = object.kind === 'object' ? (object.props.get(name)?.value ?? null) : null;
  if (own) return callValue(a, node, own, evaluateArguments(a, node.arguments));
  const bound = callBound(a, node, object, name);
  if (bound) return bound;
  if (object.kind === 'api')
    return callApi(a, node, member(object, name), evaluateArguments(a, node.arguments));
  if (isTraced && (object.kind !== 'unknown' || object.reach === null || object.sources.length > 0)) {
    return callMethodOperation(a, node, object, name, evaluateArguments(a, node.arguments));
  }
  if (isThen(name)) return callThen(a, node, object, name, evaluateArguments(a, node.arguments));
  const args = evaluateArguments(a, node.arguments);
  putInto(a, callee.object, object, args);
  return callUnknown(a, node, object, args, true);
}

/** `Object.keys(x)`, `Promise.all([…])`: functions of global objects. */
function callStatic(a: Analysis, node: CallExpression, name: string): Value {
  const waiting = waitingOf(name);
  if (waiting) return callPromise(a, node, waiting);
  const args = evaluateArguments(a, node.arguments);
  if (isStaticOperation(name) && node.callee.type === 'MemberExpression' && isPlain(a, node, node.callee)) {
    return callOperation(a, node, name, args);
  }
  if (name === 'Promise.resolve')
    return { kind: 'promise', value: args.values[0] ?? NOTHING_KNOWN, ends: [], begins: [] };
  if (name === 'Object.freeze') return args.values[0] ?? NOTHING_KNOWN;
  return callUnknown(a, node, { kind: 'global', name }, args);
}

function callValue(a: Analysis, node: CallExpression, callee: Value, args: Arguments): Value {
  if (callee.kind === 'function') return a.invoke({ fn: callee, args, call: node });
  if (callee.kind === 'api') return callApi(a, node, callee, args);
  const isNamed = callee.kind === 'global' && node.callee.type === 'Identifier' && !node.optional;
  const operation = isNamed && !a.scope.find('globalThis') ? globalOperation(callee.name) : null;
  if (operation) return callOperation(a, node, operation, args);
  return callUnknown(a, node, callee, args);
}

/** `object[name](…)`, where the name is known only at run time. */
function callDynamic(a: Analysis, node: CallExpression, callee: MemberExpression, object: Value): Value {
  const target = a.evaluate(callee);
  const args = evaluateArguments(a, node.arguments);
  const isApi = object.kind === 'api' || (target.kind === 'unknown' && target.reach !== null);
  if (isApi) return leaveCall(a, node, reachOf(target) ?? '');
  return callUnknown(a, node, target, args);
}

/**
 * Calls an unknown function: it may be one of several, and may call its function arguments. For a method,
 * `callee` is the object that has it.
 */
function callUnknown(a: Analysis, node: Span, callee: Value, args: Arguments, isMethod = false): Value {
  const isApi = callee.kind === 'api' || callee.kind === 'unknown';
  const reach = isApi ? reachOf(callee) : null;
  if (reach !== null) return leaveCall(a, node, reach);
  const given = unknownFrom(...args.values, args.more);
  const fault = isMethod && callee.kind === 'object' ? null : faultOf(callee, given);
  if (fault) a.draft.leaveUnresolved(node.start, a.textOf(node), fault);
  const own = callee.kind === 'global' ? NOTHING_KNOWN : unknownFrom(callee);
  const answers = [
    ...callAny(a, node, own.functions, args),
    ...callAny(a, node, isLog(callee) ? [] : given.functions, { values: [], more: NOTHING_KNOWN, texts: [] }),
  ];
  const { functions } = unknownFrom(given, ...answers);
  // Maps and sets return the values that were put into them.
  return { ...unknownFrom(own, given, ...answers), functions, reach: own.reach };
}

/** Why unseen calls of tools may happen here; null if they cannot. */
function faultOf(callee: Value, given: UnknownValue): string | null {
  const isMaker = callee.kind === 'global' && (callee.name === 'eval' || callee.name === 'Function');
  if (isMaker) return 'Code created at run time cannot be analysed';
  return given.reach !== null && !isLog(callee) ? 'Tools are passed to an unknown function' : null;
}

const isLog = (callee: Value) => callee.kind === 'global' && callee.name.startsWith('console.');

/** Calls one of the functions, or none of them. */
function callAny(a: Analysis, call: Span, functions: readonly FunctionValue[], args: Arguments): Value[] {
  const { frontier } = a.flow;
  const exits: Exit[] = [{ frontier, isAlive: true }];
  const answers = functions.map((fn) => {
    a.flow.frontier = frontier;
    const answer = a.memory.maybe(() => a.invoke({ fn, args, call }));
    exits.push({ frontier: a.flow.frontier, isAlive: true });
    return answer;
  });
  if (functions.length > 0) a.flow.meet(exits);
  return answers;
}

/** An unknown method may store its arguments, as those of maps and sets do. */
function putInto(a: Analysis, expression: Expression, object: Value, { values, more }: Arguments): void {
  if (values.length === 0 && !more) return;
  const given = unknownFrom(...values, more);
  for (const each of objectsOf(object)) {
    each.isOpen = true;
    a.memory.add(each.rest, given);
  }
  if (object.kind !== 'object') taint(a, expression, given);
}

/** Whether a hook can make the call without changing its meaning. */
function isPlain(a: Analysis, node: CallExpression, callee: MemberExpression): boolean {
  if (node.callee !== callee || callee.computed || callee.object.type === 'Super') return false;
  return a.chains.get(node)?.isFixed !== true;
}

function bare(node: Expression): Expression {
  let inner = node;
  while (
    inner.type === 'ParenthesizedExpression' ||
    inner.type === 'TSNonNullExpression' ||
    inner.type === 'TSAsExpression' ||
    inner.type === 'TSInstantiationExpression'
  ) {
    inner = inner.expression;
  }
  if (inner.type !== 'ChainExpression') return inner;
  return inner.expression.type === 'MemberExpression' ? inner.expression : inner;
}

const isThen = (name: string): boolean => name === 'then' || name === 'catch' || name === 'finally';

/** `promise.then(f, g)`, `.catch(g)`, `.finally(f)`: the functions run after the promise. */
function callThen(
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
