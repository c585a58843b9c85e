import type { FormalParameter, ParamPattern, Span } from 'oxc-parser';
import { type Analysis, type Arguments, type Frame, type Invocation, newFrame } from './analysis.ts';
import { declareAs, hoist } from './assign.ts';
import { leaveFunction } from './branches.ts';
import { awaited } from './call-promise.ts';
import { type Changes, type Frontier, NO_CHANGES, type Place } from './flow.ts';
import { Scope } from './scope.ts';
import {
  type FunctionValue,
  isStable,
  join,
  NOTHING_KNOWN,
  objectValue,
  setProperty,
  UNDEFINED,
  union,
  unknownFrom,
  type Value,
} from './value.ts';

const DEFAULTS = {
  /** Calls of one function that are followed; later ones are assumed to behave like the last of these. */
  maxCopies: 32,
  /** Cost of a call, in syntax nodes. */
  callCost: 10,
  /** Depth of nested calls that are followed. */
  maxDepth: 32,
  /** Passes through a recursive function, before its arguments become unknown. */
  maxPasses: 3,
};

type FunctionNode = FunctionValue['node'];

/** Follows calls into the functions that the program itself defines. */
export class Invoker {
  readonly #copies = new Map<FunctionNode, number>();
  readonly #answers = new Map<FunctionNode, Value>();
  /** The calls that are being walked through, innermost last. */
  readonly #active: Activation[] = [];
  readonly #waiting = new Set<FunctionValue>();

  /** Registers a function; what it does is unknown until it is called. */
  note(fn: FunctionValue): FunctionValue {
    if (!this.#copies.has(fn.node)) this.#waiting.add(fn);
    return fn;
  }

  /** Yields the functions that were never called, and those that they create. */
  *neverCalled(): Iterable<FunctionValue> {
    for (const fn of this.#waiting) if (!this.#copies.has(fn.node)) yield fn;
  }

  invoke(a: Analysis, { fn, args, call }: Invocation): Value {
    a.spend(DEFAULTS.callCost);
    const { node } = fn;
    const before = this.#active.findLast((active) => active.node === node && isAgain(active, call));
    if (before) {
      before.again = before.again ? joinArguments(before.again, args) : args;
      return unknownFrom(this.#answers.get(node) ?? null, ...args.values, args.more);
    }
    const isTooDeep = this.#active.length >= DEFAULTS.maxDepth;
    const place = isTooDeep ? null : this.#enter(a, fn, call);
    if (!place) return this.#answers.get(node) ?? NOTHING_KNOWN;
    const { isAlive, place: outer } = a.flow;
    const activation: Activation = { node, call, again: null };
    this.#active.push(activation);
    a.flow.place = place;
    const answer = this.#run(a, fn, args, activation);
    this.#answers.set(node, answer);
    this.#active.pop();
    a.flow.place = outer;
    a.flow.isAlive = isAlive;
    return answer;
  }

  /** A recursive function is passed through until its arguments cover every recursive call. */
  #run(a: Analysis, fn: FunctionValue, args: Arguments, activation: Activation): Value {
    const { frontier, isAlive } = a.flow;
    // A function that runs in the background may not have finished yet; an awaited one has.
    const isDone = (!fn.node.async && !fn.node.generator) || a.awaiting === activation.call;
    let given = args;
    for (let pass = 1; ; pass++) {
      const { answer, ends } = runFunction(a, fn, given);
      const isLast = !activation.again || pass > DEFAULTS.maxPasses;
      a.memory.meet(isLast && isDone && pass === 1 ? ends : [...ends, NO_CHANGES]);
      if (isLast) return answer;
      const next = joinArguments(given, activation.again!);
      if (pass > 1 && isSettled(given, next)) return answer;
      this.#answers.set(fn.node, answer);
      given = pass < DEFAULTS.maxPasses && !a.isSketch ? next : blur(next);
      activation.again = null;
      a.flow.frontier = frontier;
      a.flow.isAlive = isAlive;
    }
  }

  /** Null if the function was followed often enough. */
  #enter(a: Analysis, { node }: FunctionValue, call: { start: number; end: number }): Place | null {
    const known = a.flow.place.inCall(call, node);
    if (known) return known;
    const copies = this.#copies.get(node) ?? 0;
    if (copies >= DEFAULTS.maxCopies) return null;
    this.#copies.set(node, copies + 1);
    const isWrittenThere = node.start >= call.start && node.end <= call.end;
    const { calledAt } = a.flow.place;
    return a.flow.place.enterCall(call, node, isWrittenThere ? calledAt : (calledAt ?? call.start));
  }
}

interface Activation {
  readonly node: FunctionNode;
  readonly call: Span;
  /** Arguments of its recursive calls. */
  again: Arguments | null;
}

/** Whether a function calls itself, as opposed to being called by one of its arguments. */
function isAgain({ node, call }: Activation, inner: Span): boolean {
  return inner === call || (inner.start >= node.start && inner.end <= node.end);
}

/** Walks through the body once. An async function runs in the background until it is awaited. */
function runFunction(
  a: Analysis,
  fn: FunctionValue,
  args: Arguments,
): { answer: Value; ends: readonly Changes[] } {
  const { node } = fn;
  const begins = a.flow.frontier;
  const { scope, frame } = a;
  const inner = newFrame(fn.self, node.async, a.memory.depth);
  const changes = a.memory.branch(() => {
    a.scope = new Scope(fn.scope, true);
    a.frame = inner;
    if (node.type === 'FunctionExpression' && node.id) declareAs(a, node.id, fn, node.id);
    bindParameters(a, node.params, args);
    if (node.body) runBody(a, node.body);
    a.scope = scope;
    a.frame = frame;
  });
  const ends = inner.left.length > 0 ? inner.left : [changes];
  a.flow.frontier = inner.exits.length > 0 ? inner.exits.reduce<Frontier>(union, []) : begins;
  a.flow.isAlive = true;
  return { answer: answerOf(a, node, inner, begins), ends };
}

function answerOf(a: Analysis, node: FunctionNode, { returns, yields }: Frame, begins: Frontier): Value {
  const returned = returns.length > 0 ? returns.reduce(join) : UNDEFINED;
  if (node.generator) return unknownFrom(...yields, returned);
  if (!node.async) return returned;
  const ends = a.flow.frontier.filter((step) => !begins.includes(step));
  a.flow.frontier = begins;
  return { kind: 'promise', value: awaited(returned), ends, begins };
}

function runBody(a: Analysis, body: FunctionNode['body'] & object): void {
  if (body.type === 'BlockStatement') {
    hoist(a, body.body);
    a.executeAll(body.body);
    if (a.flow.isAlive) leaveFunction(a, UNDEFINED);
  } else leaveFunction(a, a.evaluate(body));
}

function bindParameters(
  a: Analysis,
  params: readonly ParamPattern[],
  { values, more, texts }: Arguments,
): void {
  params.forEach((param, index) => {
    const pattern = param.type === 'TSParameterProperty' ? param.parameter : param;
    if (pattern.type === 'RestElement') {
      const rest = objectValue(true);
      values.slice(index).forEach((value, i) => {
        setProperty(rest, String(i), { value });
      });
      if (more) {
        rest.isOpen = true;
        rest.rest.value = more;
      }
      declareAs(a, pattern.argument, rest, pattern);
      return;
    }
    const value = values[index] ?? (more ? unknownFrom(more) : UNDEFINED);
    declareAs(a, pattern, value, texts[index] ?? pattern);
    if (param.type === 'TSParameterProperty') keepAsProperty(a, pattern);
  });
}

/** `constructor(private x: T)`: the parameter is also a property. */
function keepAsProperty(a: Analysis, pattern: FormalParameter): void {
  const target = pattern.type === 'AssignmentPattern' ? pattern.left : pattern;
  const { self } = a.frame;
  if (target.type !== 'Identifier' || self.kind !== 'object') return;
  self.props.set(target.name, { value: a.scope.find(target.name)?.value ?? NOTHING_KNOWN, text: target });
}

function joinArguments(a: Arguments, b: Arguments): Arguments {
  const length = Math.max(a.values.length, b.values.length);
  const nth = ({ values, more }: Arguments, i: number): Value => values[i] ?? more ?? UNDEFINED;
  return {
    values: Array.from({ length }, (_, i) => join(nth(a, i), nth(b, i))),
    more: a.more || b.more ? unknownFrom(a.more, b.more) : null,
    texts: [],
  };
}

function isSettled(before: Arguments, after: Arguments): boolean {
  if (before.values.length !== after.values.length || !before.more !== !after.more) return false;
  return after.values.every((value, i) => isStable(before.values[i]!, value));
}

function blur({ values, more }: Arguments): Arguments {
  return { values: values.map((value) => unknownFrom(value)), more, texts: [] };
}
