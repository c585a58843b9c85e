import type { Expression, Span } from 'oxc-parser';
import type { DraftNode, Head } from '../emit/draft.ts';
import type { Analysis, Probe } from './analysis.ts';
import { type Changes, type Exit, type Frontier, NO_CHANGES } from './flow.ts';
import { type Cell, isStable, NOTHING_KNOWN, sourcesOf, unknownFrom, type Value } from './value.ts';

const DEFAULTS = {
  /** Rounds after which every value that still changes becomes unknown. */
  maxRounds: 4,
};

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

/**
 * Walks through a body that may run any number of times: each round starts from the state the last one left,
 * until nothing new appears. `others` are the states of rounds that ended early.
 *
 * During this search, inner bodies are only sketched: walked through once, and everything they change becomes
 * unknown. They get their own rounds in the last round. So nested loops cost the product of their depth and
 * length, not a power of it.
 */
export function repeat(a: Analysis, run: () => void, others: () => readonly Changes[] = () => []): void {
  a.repeated++;
  const { frontier, isAlive } = a.flow;
  const declared = a.declared;
  // Variables declared in the body are new in every round.
  const isCarried = ({ born }: Cell) => born === undefined || born <= declared;
  /** The cells whose value is new after this round. */
  const round = (): Cell[] => {
    a.flow.frontier = frontier;
    a.flow.isAlive = isAlive;
    const changes = a.memory.branch(run);
    const ends = [...(a.flow.isAlive ? [changes] : []), ...others()];
    const carried = [...new Set(ends.flatMap((end) => [...end.keys()]))].filter(isCarried);
    const before = carried.map((cell) => cell.value);
    a.memory.meet([...ends, NO_CHANGES]);
    return carried.filter((cell, i) => !isSettled(before[i] ?? null, cell));
  };
  const blur = (cells: readonly Cell[]) => {
    for (const cell of cells) a.memory.set(cell, unknownFrom(cell.value ?? NOTHING_KNOWN));
  };

  if (a.isSketch) {
    blur(round());
    return;
  }
  const { repeated } = a;
  a.isSketch = true;
  let unsettled = round();
  for (let n = 1; unsettled.length > 0 && n < DEFAULTS.maxRounds; n++) unsettled = round();
  blur(unsettled);
  a.isSketch = false;
  const isWhole = unsettled.length === 0 && a.repeated === repeated;
  if (!isWhole) round();
}

function isSettled(before: Cell['value'], { value }: Cell): boolean {
  return before !== null && value !== null && isStable(before, value);
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
