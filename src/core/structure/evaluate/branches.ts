import type { Expression, Span } from 'oxc-parser';
import type { DraftNode, Head } from '../emit/draft.ts';
import type { Analysis, Probe } from './analysis.ts';
import { type Changes, type Exit, type Frontier, NO_CHANGES } from './flow.ts';
import { sourcesOf, type Value } from './value.ts';

export interface Branch {
  readonly head: Head;
  readonly run: () => void;
  /** Steps that lead into the branch besides its head. */
  readonly also?: Frontier;
}

/** A step at which the program takes one branch or another. */
export function addDecision(
  a: Analysis,
  node: Span,
  condition: string,
  uses: Value,
  probe: Probe,
): DraftNode {
  const decision = a.flow.step(node, { type: 'decision', condition }, node.start);
  provide(a, decision, uses);
  markDecision(a, node, decision, probe);
  return decision;
}

export function markDecision(a: Analysis, key: object, node: DraftNode, probe: Probe): void {
  if (!a.marks.has(key)) a.marks.set(key, { kind: 'decision', node, probe });
}

/** The state at the end of one branch. */
export interface Outcome {
  readonly exit: Exit;
  readonly changes: Changes;
}

/** Runs each branch from the same state. `canSkip`: possibly no branch runs. */
export function runBranches(
  a: Analysis,
  decision: DraftNode,
  branches: readonly Branch[],
  canSkip: boolean,
): void {
  const outcomes = branches.map((branch) => runBranch(a, branch));
  meet(a, canSkip ? [...outcomes, passBy(decision)] : outcomes);
}

export function runBranch(a: Analysis, { head, run, also = [] }: Branch): Outcome {
  let exit: Exit = { frontier: [head.node], isAlive: true };
  const changes = a.memory.branch(() => {
    exit = a.flow.inside(head, run, [head.node, ...also]);
  });
  return { exit, changes };
}

/** The outcome if no branch was taken. */
export function passBy(decision: DraftNode): Outcome {
  return { exit: { frontier: [decision], isAlive: true }, changes: NO_CHANGES };
}

/** Joins the branches; a branch that left by `return` or `break` is joined where it went. */
export function meet(a: Analysis, outcomes: readonly Outcome[]): void {
  a.flow.meet(outcomes.map(({ exit }) => exit));
  const lasting = outcomes.filter(({ exit }) => exit.isAlive).map(({ changes }) => changes);
  if (lasting.length > 0) a.memory.meet(lasting);
}

/** `if (condition) …` and `condition ? … : …` */
export function decideOn(
  a: Analysis,
  node: Span,
  condition: Expression,
  whenTrue: () => void,
  whenFalse: (() => void) | null,
): void {
  const uses = a.evaluate(condition);
  const decision = addDecision(a, node, a.textOf(condition), uses, { at: 'condition', condition });
  const branch = (name: string, run: () => void): Branch => ({
    head: { node: decision, type: 'conditional', branch: name },
    run,
  });
  const branches = [branch('true', whenTrue), ...(whenFalse ? [branch('false', whenFalse)] : [])];
  runBranches(a, decision, branches, whenFalse === null);
}

/** Connects the steps that a value comes from to the step that uses it. */
export function provide(a: Analysis, to: DraftNode, value: Value, argument?: string): void {
  for (const from of sourcesOf(value)) {
    a.draft.connect(from, to, 'provides', argument === undefined ? {} : { argument });
  }
}

/** `return value`: an async function ends when the value it returns has settled. */
export function leaveFunction(a: Analysis, value: Value): void {
  a.frame.returns.push(value);
  if (!a.flow.isAlive) return;
  if (a.frame.isAsync && value.kind === 'promise') a.flow.settle(value.begins, value.ends);
  a.frame.exits.push(a.flow.frontier);
  a.frame.left.push(a.memory.since(a.frame.depth));
  a.flow.isAlive = false;
}
