import type {
  CatchClause,
  DoWhileStatement,
  Expression,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  Statement,
  SwitchCase,
  SwitchStatement,
  TryStatement,
  WhileStatement,
} from 'oxc-parser';
import type { DraftNode } from '../emit/draft.ts';
import { type Analysis, newTarget } from './analysis.ts';
import { assignTo, declareAs, hoist } from './assign.ts';
import { addDecision, markDecision, meet, type Outcome, passBy, provide, runBranch } from './branches.ts';
import { type Changes, NO_CHANGES } from './flow.ts';
import { Scope } from './scope.ts';
import { type Cell, isStable, NOTHING_KNOWN, unknownFrom, type Value } from './value.ts';
import { elementOf } from './value-members.ts';

const DEFAULTS = {
  /** Rounds after which every value that still changes becomes unknown. */
  maxRounds: 4,
};

/** Labels that share a body are one branch; a body without `break` falls through to the next. */
export function executeSwitch(a: Analysis, node: SwitchStatement): void {
  const { cases, discriminant } = node;
  const tests = cases.flatMap(({ test }) => (test ? [a.evaluate(test)] : []));
  const uses = unknownFrom(a.evaluate(discriminant), ...tests);
  const bodies = bodiesOf(a, cases);
  const places = bodies.map(({ branch, statements }) => ({ offset: statements[0]!.start, branch }));
  const decision = addDecision(a, node, a.textOf(discriminant), uses, { at: 'statements', places });
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  hoist(
    a,
    cases.flatMap(({ consequent }) => consequent),
  );
  const outcomes: Outcome[] = [];
  let fallen: Outcome | null = null;
  for (const { branch, statements } of bodies) {
    const from: Outcome | null = fallen;
    const run = () => {
      if (from) a.memory.meet([from.changes, NO_CHANGES]);
      a.executeAll(statements);
    };
    const head = { node: decision, type: 'conditional', branch } as const;
    const outcome = runBranch(a, { head, run, also: from?.exit.frontier ?? [] });
    fallen = outcome.exit.isAlive ? outcome : null;
    if (!fallen) outcomes.push(outcome);
  }
  if (fallen) outcomes.push(fallen);
  if (cases.every(({ test }) => test !== null)) outcomes.push(passBy(decision));
  meet(a, outcomes);
  a.scope = outer;
}

/** The non-empty bodies, each with the labels that lead to it. */
function bodiesOf(a: Analysis, cases: readonly SwitchCase[]): { branch: string; statements: Statement[] }[] {
  const bodies: { branch: string; statements: Statement[] }[] = [];
  let labels: string[] = [];
  for (const { test, consequent } of cases) {
    labels.push(test ? a.textOf(test) : 'default');
    if (consequent.length === 0) continue;
    bodies.push({ branch: labels.join(' | '), statements: consequent });
    labels = [];
  }
  return bodies;
}

/**
 * `try` with a `catch` is a decision: it contains the `try` block, and the handler is its branch `catch`,
 * which starts from any state the block may have reached. `finally` belongs to neither.
 */
export function executeTry(
  a: Analysis,
  { block, handler, finalizer, ...node }: TryStatement,
  runBlock: (statements: readonly Statement[]) => void,
): void {
  const seen = a.memory.watch(() => {
    if (!handler) {
      runBlock(block.body);
      return;
    }
    const content = { type: 'decision', condition: 'try' } as const;
    const decision = a.flow.stepIfUsed(block, content, node.start, (head) => {
      tryAndCatch(
        a,
        head,
        () => runBlock(block.body),
        () => runHandler(a, handler, runBlock),
      );
    });
    const place = { offset: handler.body.start + 1, branch: 'catch' };
    if (decision) markDecision(a, block, decision, { at: 'statements', places: [place] });
  });
  if (finalizer) runFinalizer(a, seen, () => runBlock(finalizer.body));
}

function tryAndCatch(a: Analysis, head: DraftNode, block: () => void, handler: () => void): void {
  let tried = passBy(head);
  const seen = a.memory.watch(() => {
    tried = runBranch(a, { head: { node: head, type: 'contains' }, run: block });
  });
  const caught = runBranch(a, {
    head: { node: head, type: 'conditional', branch: 'catch' },
    run: () => {
      a.memory.meet([seen, NO_CHANGES]);
      handler();
    },
  });
  meet(a, [tried, caught]);
}

function runHandler(
  a: Analysis,
  { param, body }: CatchClause,
  runBlock: (statements: readonly Statement[]) => void,
): void {
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  if (param) declareAs(a, param, NOTHING_KNOWN, param);
  runBlock(body.body);
  a.scope = outer;
}

/** `finally` runs however the rest ended: once as if it succeeded, once from any state it may have reached. */
function runFinalizer(a: Analysis, seen: Changes, run: () => void): void {
  const { frontier, isAlive } = a.flow;
  a.flow.isAlive = true;
  a.memory.branch(() => {
    a.memory.meet([seen, NO_CHANGES]);
    run();
  });
  a.flow.frontier = frontier;
  a.flow.isAlive = true;
  run();
  a.flow.isAlive &&= isAlive;
}

type Loop = ForStatement | ForOfStatement | ForInStatement | WhileStatement | DoWhileStatement;

const LOOPS: ReadonlySet<string> = new Set([
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
]);

export function isLoop(node: Statement): node is Loop {
  return LOOPS.has(node.type);
}

/**
 * A loop is one step that contains its body. The flow continues from the loop itself, and from where the
 * body breaks out of it.
 */
export function executeLoop(a: Analysis, node: Loop, labels: readonly string[]): void {
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') {
    const over = a.evaluate(node.right);
    const loop = addLoop(a, node, node.right);
    provide(a, loop, over);
    const item = node.type === 'ForOfStatement' ? elementOf(over) : unknownFrom(over);
    runBody(a, node, loop, labels, () => {
      takeItem(a, node, node.type === 'ForOfStatement' ? waitedFor(a, node, item) : item);
      a.execute(node.body);
    });
  } else {
    if (node.type === 'ForStatement' && node.init) runInit(a, node.init);
    const loop = addLoop(a, node, node.test);
    runBody(a, node, loop, labels, () => {
      const isDo = node.type === 'DoWhileStatement';
      if (!isDo && node.test) test(a, loop, node.test);
      a.execute(node.body);
      if (isDo) test(a, loop, node.test);
      if (node.type === 'ForStatement' && node.update) a.evaluate(node.update);
    });
  }
  a.scope = outer;
}

function addLoop(a: Analysis, node: Loop, over: Expression | null): DraftNode {
  return a.flow.step(node, { type: 'loop', over: over ? a.textOf(over) : '' }, node.start);
}

function runBody(a: Analysis, node: Loop, loop: DraftNode, labels: readonly string[], run: () => void): void {
  const target = newTarget('loop', labels, a.memory.depth);
  a.frame.targets.push(target);
  a.flow.inside({ node: loop, type: 'loop_body' }, () => repeat(a, run, () => target.left));
  a.frame.targets.pop();
  const ways = target.breaks.map((frontier) => ({ frontier, isAlive: true }));
  // Without a condition that can fail, only a break leaves the loop.
  a.flow.meet([...ways, { frontier: [loop], isAlive: !isEndless(node) }]);
}

function isEndless(node: Loop): boolean {
  if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') return false;
  const { test } = node;
  return test === null || (test.type === 'Literal' && Boolean(test.value));
}

function test(a: Analysis, loop: DraftNode, condition: Expression): void {
  provide(a, loop, a.evaluate(condition));
}

function runInit(a: Analysis, init: NonNullable<ForStatement['init']>): void {
  if (init.type === 'VariableDeclaration') a.execute(init);
  else a.evaluate(init);
}

function takeItem(a: Analysis, { left }: ForOfStatement | ForInStatement, item: Value): void {
  if (left.type !== 'VariableDeclaration') {
    assignTo(a, left, item, left);
    return;
  }
  const scope = left.kind === 'var' ? a.scope.ofFunction : a.scope;
  for (const { id } of left.declarations) declareAs(a, id, item, id, scope);
}

/** `for await` awaits each element. */
function waitedFor(a: Analysis, { await: isAwait }: ForOfStatement, item: Value): Value {
  if (!isAwait || item.kind !== 'promise') return item;
  a.flow.settle(item.begins, item.ends);
  return item.value;
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
