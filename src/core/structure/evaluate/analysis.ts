import type {
  Argument,
  CallExpression,
  ChainExpression,
  Expression,
  MemberExpression,
  Span,
  Statement,
} from 'oxc-parser';
import type { Draft, DraftNode } from '../emit/draft.ts';
import type { Changes, Flow, Frontier, Memory } from './flow.ts';
import {
  type Cell,
  type FunctionValue,
  isListed,
  NOTHING_KNOWN,
  unknownFrom,
  type Value,
  type Variables,
} from './value.ts';

/**
 * Abstract interpretation: walks through the program as if it ran, with what is known about its values. The
 * parts of the walk (expressions, statements, calls) depend on one another through this interface.
 */
export interface Analysis {
  readonly draft: Draft;
  readonly flow: Flow;
  readonly memory: Memory;
  /** What the script must report when it runs, by syntax node. */
  readonly marks: Map<object, Mark>;
  /** The optional chain around a call. */
  readonly chains: Map<CallExpression, ChainPlace>;
  scope: Variables;
  frame: Frame;
  /** Number of variables declared so far. */
  readonly declared: number;
  /** Number of bodies repeated so far. */
  repeated: number;
  /** The current code will be walked through again. */
  isSketch: boolean;
  /** The call whose promise is awaited directly. */
  awaiting: object | null;
  /** Collects the steps whose results a function uses from outside of it. */
  captures: Captures | null;
  evaluate(node: Expression): Value;
  execute(node: Statement): void;
  executeAll(nodes: readonly Statement[]): void;
  invoke(invocation: Invocation): Value;
  /** Registers a function that may never be called in visible code. */
  note(fn: FunctionValue): FunctionValue;
  declare(name: string, scope?: Variables): Cell;
  textOf(span: Span): string;
  /** Counts work beyond the walk through the syntax tree. */
  spend(parts: number): void;
  /** The program uses something that cannot be executed. */
  refuse(offset: number, message: string): void;
}

export interface Invocation {
  readonly fn: FunctionValue;
  readonly args: Arguments;
  /** The call; each call of a function has its own nodes. */
  readonly call: Span;
}

export interface Arguments {
  readonly values: readonly Value[];
  /** The values after `values`, if their number is unknown. */
  readonly more: Value | null;
  /** The expressions of `values`, if they are written in the call. */
  readonly texts: readonly Span[];
}

/** The function that is being walked through. */
export interface Frame {
  readonly self: Value;
  readonly isAsync: boolean;
  readonly returns: Value[];
  readonly exits: Frontier[];
  /** Depth of the memory's branches when the function was called, and what had changed since at each exit. */
  readonly depth: number;
  readonly left: Changes[];
  readonly yields: Value[];
  /** Statements that `break` and `continue` can leave, innermost last. */
  readonly targets: Target[];
}

export interface Target {
  readonly labels: readonly string[];
  readonly kind: 'loop' | 'switch' | 'block';
  readonly breaks: Frontier[];
  /** As in `Frame`, for `break` and `continue`. */
  readonly depth: number;
  readonly left: Changes[];
}

export interface Captures {
  /** Variables declared before this number are outside. */
  readonly since: number;
  readonly sources: Set<DraftNode>;
}

export interface ChainPlace {
  readonly chain: ChainExpression;
  /** The chain cannot be split without changing its meaning. */
  readonly isFixed: boolean;
}

export type Mark =
  | {
      readonly kind: 'operation';
      readonly node: DraftNode;
      readonly operation: string;
      readonly call: CallExpression;
      readonly chain: ChainExpression | null;
    }
  | { readonly kind: 'decision'; readonly node: DraftNode; readonly probe: Probe };

/** Where a decision reports which branch it takes. */
export type Probe =
  /** At the condition itself. */
  | { readonly at: 'condition'; readonly condition: Expression }
  /** At the expression that runs in this branch. */
  | { readonly at: 'expression'; readonly expression: Expression; readonly branch: string }
  | { readonly at: 'statements'; readonly places: readonly { offset: number; branch: string }[] };

export function newFrame(self: Value, isAsync: boolean, depth: number): Frame {
  return { self, isAsync, depth, returns: [], exits: [], left: [], yields: [], targets: [] };
}

export function newTarget(kind: Target['kind'], labels: readonly string[], depth: number): Target {
  return { kind, labels, depth, breaks: [], left: [] };
}

/** One `.name`, `[key]` or `(args)` of a chain; the innermost is evaluated first. */
export type Link = MemberExpression | CallExpression;

/** The links of `a?.b(c).d`, in order of evaluation. */
export function linksOf(chain: ChainExpression): Link[] {
  const links: Link[] = [];
  let node: Expression = chain.expression;
  while (true) {
    if (node.type === 'TSNonNullExpression') node = node.expression;
    else if (node.type === 'MemberExpression') {
      links.push(node);
      node = node.object;
    } else if (node.type === 'CallExpression') {
      links.push(node);
      node = node.callee;
    } else return links.reverse();
  }
}

/**
 * Records the chain of each call. After `a.b?.()` a chain cannot be split: the call needs both `a` and
 * `a.b`.
 */
export function noteChain(
  chains: Map<CallExpression, ChainPlace>,
  chain: ChainExpression,
  isWholeFixed = false,
): void {
  let isFixed = isWholeFixed;
  for (const link of linksOf(chain)) {
    if (link.type !== 'CallExpression') continue;
    isFixed ||= link.optional && link.callee.type !== 'Identifier';
    if (!chains.has(link)) chains.set(link, { chain, isFixed });
  }
}

export function evaluateArguments(a: Analysis, nodes: readonly Argument[]): Arguments {
  const values: Value[] = [];
  const texts: Expression[] = [];
  let more: Value | null = null;
  for (const node of nodes) {
    if (node.type !== 'SpreadElement') {
      const value = a.evaluate(node);
      if (more) more = unknownFrom(more, value);
      else {
        values.push(value);
        texts.push(node);
      }
      continue;
    }
    const spread = a.evaluate(node.argument);
    if (more || !isListed(spread)) more = unknownFrom(more, spread);
    else {
      for (const cell of spread.props.values()) {
        values.push(cell.value ?? NOTHING_KNOWN);
        texts.push(node.argument);
      }
    }
  }
  return { values, more, texts };
}
