import type {
  CallExpression,
  ChainExpression,
  Expression,
  MemberExpression,
  Span,
  Statement,
} from 'oxc-parser';
import type { Draft, DraftNode } from '../emit/draft.ts';
import type { Flow, Frontier } from './flow.ts';
import type { Changes, Memory } from './memory.ts';
import type { Cell, FunctionValue, Value, Variables } from './value.ts';

/**
 * The program is gone through as if it ran, with what is known of its values. The parts of that walk
 * (expressions, statements, calls) need one another; they meet here.
 */
export interface Analysis {
  readonly draft: Draft;
  readonly flow: Flow;
  readonly memory: Memory;
  /** What the script has to tell of when it runs, by its part of the syntax tree. */
  readonly marks: Map<object, Mark>;
  /** The optional chain that a call stands in. */
  readonly chains: Map<CallExpression, ChainPlace>;
  scope: Variables;
  frame: Frame;
  /** How many variables were declared so far. */
  readonly declared: number;
  /** How many bodies were repeated so far. */
  repeated: number;
  /** What is gone through will be gone through again. */
  isSketch: boolean;
  /** The call whose promise is waited for at once. */
  awaiting: object | null;
  /** Takes note of the steps whose results a function uses from outside of it. */
  captures: Captures | null;
  evaluate(node: Expression): Value;
  execute(node: Statement): void;
  executeAll(nodes: readonly Statement[]): void;
  invoke(invocation: Invocation): Value;
  /** Functions that exist but may never be called in sight. */
  note(fn: FunctionValue): FunctionValue;
  declare(name: string, scope?: Variables): Cell;
  textOf(span: Span): string;
  /** Work beyond going through the syntax tree counts as well. */
  spend(parts: number): void;
  /** The program uses what no run could execute. */
  refuse(offset: number, message: string): void;
}

export interface Invocation {
  readonly fn: FunctionValue;
  readonly args: Arguments;
  /** The call; two calls of one function are two places. */
  readonly call: Span;
}

export interface Arguments {
  readonly values: readonly Value[];
  /** What comes after `values`, when their number is not known. */
  readonly more: Value | null;
  /** The expressions of `values`, as far as they are written in the call. */
  readonly texts: readonly Span[];
}

/** The function that is gone through. */
export interface Frame {
  readonly self: Value;
  readonly isAsync: boolean;
  readonly returns: Value[];
  readonly exits: Frontier[];
  /** How deep the memory's branches were when it was called, and what had changed since at each exit. */
  readonly depth: number;
  readonly left: Changes[];
  readonly yields: Value[];
  /** What `break` and `continue` can leave, the innermost last. */
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
  /** Variables declared before this moment are outside. */
  readonly since: number;
  readonly sources: Set<DraftNode>;
}

export interface ChainPlace {
  readonly chain: ChainExpression;
  /** It cannot be taken apart without changing what it means. */
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

/** Where a decision tells which way it goes. */
export type Probe =
  /** The condition itself. */
  | { readonly at: 'condition'; readonly condition: Expression }
  /** Whatever is about to be run in this branch. */
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

/** The links of `a?.b(c).d`, the first to be evaluated first. */
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
 * Remembers of each call which chain it stands in. Behind `a.b?.()` a chain cannot be taken apart: the
 * call needs both `a` and `a.b`.
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
