import type {
  DoWhileStatement,
  Expression,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  Statement,
  WhileStatement,
} from 'oxc-parser';
import type { DraftNode } from '../emit/draft.ts';
import { type Analysis, newTarget } from './analysis.ts';
import { assignTo, declareAs } from './assign.ts';
import { provide } from './branches.ts';
import { repeat } from './repeat.ts';
import { Scope } from './scope.ts';
import { unknownFrom, type Value } from './value.ts';
import { elementOf } from './value-members.ts';

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
 * A loop is one step; what is repeated hangs on it. The flow goes on from the loop itself, and from where
 * the body breaks out of it.
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
  // Without a test that can fail, only a break leads on.
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

/** `for await` waits for each element. */
function waitedFor(a: Analysis, { await: isAwait }: ForOfStatement, item: Value): Value {
  if (!isAwait || item.kind !== 'promise') return item;
  a.flow.settle(item.begins, item.ends);
  return item.value;
}
