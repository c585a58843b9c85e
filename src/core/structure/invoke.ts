import type { FunctionBody, ParamPattern } from 'oxc-parser';
import type { Analysis, Arguments, Frame, Invocation } from './analysis.ts';
import { declareAs } from './assign.ts';
import { awaited } from './call-promise.ts';
import type { Frontier, Place } from './flow.ts';
import { hoist } from './hoist.ts';
import { Scope } from './scope.ts';
import {
  type FunctionValue,
  join,
  NOTHING_KNOWN,
  objectValue,
  UNDEFINED,
  union,
  unknownFrom,
  type Value,
} from './value.ts';

const DEFAULTS = {
  /** Calls of one function that are each followed; later ones are taken to do what the last one did. */
  maxCopies: 32,
};

type FunctionNode = FunctionValue['node'];

/** Follows calls into the functions that the program itself defines. */
export class Invoker {
  readonly #copies = new Map<FunctionNode, number>();
  readonly #answers = new Map<FunctionNode, Value>();
  /** The functions that are being gone through, and the arguments they call themselves with. */
  readonly #active = new Map<FunctionNode, { again: Arguments | null }>();
  readonly #waiting = new Set<FunctionValue>();

  /** A function that was made; until it is called, nobody has seen what it does. */
  note(fn: FunctionValue): FunctionValue {
    if (!this.#copies.has(fn.node)) this.#waiting.add(fn);
    return fn;
  }

  /** Goes through the functions that were never called, one by one, and those they make. */
  *neverCalled(): Iterable<FunctionValue> {
    for (const fn of this.#waiting) if (!this.#copies.has(fn.node)) yield fn;
  }

  invoke(a: Analysis, { fn, args, call }: Invocation): Value {
    const { node } = fn;
    const active = this.#active.get(node);
    if (active) {
      active.again = active.again ? joinArguments(active.again, args) : args;
      return unknownFrom(this.#answers.get(node) ?? null, ...args.values, args.more);
    }
    const place = this.#enter(a, fn, call);
    if (!place) return this.#answers.get(node) ?? NOTHING_KNOWN;
    const self: { again: Arguments | null } = { again: null };
    this.#active.set(node, self);
    const { frontier, state, place: outer } = a.flow;
    a.flow.place = place;
    try {
      let answer = runFunction(a, fn, args);
      if (self.again) {
        // It calls itself: what holds is what holds for every such call.
        this.#answers.set(node, answer);
        a.flow.frontier = frontier;
        a.flow.state = state;
        answer = runFunction(a, fn, joinArguments(args, self.again));
      }
      this.#answers.set(node, answer);
      return answer;
    } finally {
      this.#active.delete(node);
      a.flow.place = outer;
      a.flow.state = state;
    }
  }

  /** Null when the function was followed often enough. */
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

/** Goes through the body once. An async function goes on by itself, until it is waited for. */
function runFunction(a: Analysis, fn: FunctionValue, args: Arguments): Value {
  const { node } = fn;
  const begins = a.flow.frontier;
  const { scope, frame } = a;
  const inner: Frame = { self: fn.self, returns: [], exits: [], yields: [], targets: [] };
  a.scope = new Scope(fn.scope, true);
  a.frame = inner;
  if (node.type === 'FunctionExpression' && node.id) declareAs(a, node.id, fn, node.id);
  bindParameters(a, node.params, args);
  if (node.body) runBody(a, node.body, inner);
  a.scope = scope;
  a.frame = frame;
  const exits = inner.exits.reduce<Frontier>(union, []);
  a.flow.frontier = inner.exits.length > 0 ? exits : begins;
  a.flow.state = 'alive';
  const returned = inner.returns.length > 0 ? inner.returns.reduce(join) : UNDEFINED;
  if (node.generator) return unknownFrom(...inner.yields, returned);
  if (!node.async) return returned;
  const ends = a.flow.frontier.filter((step) => !begins.includes(step));
  const pending = returned.kind === 'promise' ? returned : null;
  a.flow.frontier = begins;
  return { kind: 'promise', value: awaited(returned), ends: union(ends, pending?.ends ?? []), begins };
}

function runBody(a: Analysis, body: FunctionBody | (FunctionNode['body'] & object), frame: Frame): void {
  if (body.type === 'BlockStatement') {
    hoist(a, body.body);
    a.executeAll(body.body);
    if (a.flow.state !== 'alive') return;
    frame.returns.push(UNDEFINED);
  } else frame.returns.push(a.evaluate(body));
  frame.exits.push(a.flow.frontier);
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
        rest.props.set(String(i), { value });
      });
      if (more) {
        rest.isOpen = true;
        rest.rest.value = more;
      }
      declareAs(a, pattern.argument, rest, pattern);
      return;
    }
    declareAs(a, pattern, values[index] ?? (more ? unknownFrom(more) : UNDEFINED), texts[index] ?? pattern);
  });
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
