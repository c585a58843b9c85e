import type { IfStatement, Statement, TSEnumDeclaration, VariableDeclaration } from 'oxc-parser';
import { type Analysis, newTarget, type Target } from './analysis.ts';
import { declareAs, hoist } from './assign.ts';
import { decideOn, leaveFunction } from './branches.ts';
import { evaluateClass } from './evaluate-class.ts';
import { executeLoop, executeSwitch, executeTry, isLoop } from './execute-control.ts';
import { Scope } from './scope.ts';
import { literal, objectValue, UNDEFINED, type Value } from './value.ts';

export function executeStatement(a: Analysis, node: Statement, labels: readonly string[] = []): void {
  switch (node.type) {
    case 'ExpressionStatement':
      a.evaluate(node.expression);
      break;
    case 'VariableDeclaration':
      executeDeclaration(a, node);
      break;
    case 'ClassDeclaration':
      if (node.id && !node.declare) declareAs(a, node.id, evaluateClass(a, node), node);
      break;
    case 'TSEnumDeclaration':
      executeEnum(a, node);
      break;
    case 'BlockStatement':
      if (labels.length === 0) executeBlock(a, node.body);
      else leavable(a, newTarget('block', labels, a.memory.depth), () => executeBlock(a, node.body));
      break;
    case 'IfStatement':
      executeIf(a, node);
      break;
    case 'SwitchStatement':
      leavable(a, newTarget('switch', labels, a.memory.depth), () => executeSwitch(a, node));
      break;
    case 'TryStatement':
      executeTry(a, node, (body) => executeBlock(a, body));
      break;
    case 'LabeledStatement':
      executeStatement(a, node.body, [...labels, node.label.name]);
      break;
    case 'ReturnStatement':
      leaveFunction(a, node.argument ? a.evaluate(node.argument) : UNDEFINED);
      break;
    case 'ThrowStatement':
      a.evaluate(node.argument);
      a.flow.isAlive = false;
      break;
    case 'BreakStatement':
    case 'ContinueStatement':
      leave(a, node.type === 'BreakStatement', node.label?.name ?? null);
      break;
    default:
      if (isLoop(node)) executeLoop(a, node, labels);
  }
}

function executeIf(a: Analysis, node: IfStatement): void {
  const { consequent, alternate } = node;
  const run = (statement: Statement) => () => a.execute(statement);
  decideOn(a, node, node.test, run(consequent), alternate ? run(alternate) : null);
}

function executeBlock(a: Analysis, statements: readonly Statement[]): void {
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  hoist(a, statements);
  a.executeAll(statements);
  a.scope = outer;
}

function executeDeclaration(a: Analysis, { declarations, kind, declare }: VariableDeclaration): void {
  if (declare) return;
  const scope = kind === 'var' ? a.scope.ofFunction : a.scope;
  for (const { id, init } of declarations) {
    if (init) declareAs(a, id, a.evaluate(init), init, scope);
    else if (kind !== 'var' && id.type === 'Identifier') declareAs(a, id, UNDEFINED, id, scope);
  }
}

/** An enum is an object of constants; members without a value count on. */
function executeEnum(a: Analysis, { id, body, declare }: TSEnumDeclaration): void {
  if (declare) return;
  const members = objectValue(false);
  // Numbers lead back to their names.
  members.isOpen = true;
  let next: Value = literal(0);
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  for (const member of body.members) {
    const value: Value = member.initializer ? a.evaluate(member.initializer) : next;
    const name = member.id.type === 'Identifier' ? member.id.name : a.evaluate(member.id);
    if (typeof name === 'string') a.memory.set(a.declare(name), value);
    const key = typeof name === 'string' ? name : name.kind === 'literal' ? String(name.value) : null;
    if (key !== null) members.props.set(key, { value });
    next = value.kind === 'literal' && typeof value.value === 'number' ? literal(value.value + 1) : UNDEFINED;
  }
  a.scope = outer;
  declareAs(a, id, members, id);
}

/** Runs what `break` can leave; afterwards the flow goes on from there as well. */
function leavable(a: Analysis, target: Target, run: () => void): void {
  a.frame.targets.push(target);
  const changes = a.memory.branch(run);
  a.frame.targets.pop();
  const { frontier, isAlive } = a.flow;
  const ends = [...(isAlive ? [changes] : []), ...target.left];
  if (ends.length > 0) a.memory.meet(ends);
  if (target.breaks.length === 0) return;
  a.flow.isAlive = true;
  a.flow.meet([
    { frontier, isAlive },
    ...target.breaks.map((broken) => ({ frontier: broken, isAlive: true })),
  ]);
}

function leave(a: Analysis, isBreak: boolean, label: string | null): void {
  const target = a.frame.targets.findLast(({ labels, kind }) => {
    if (label !== null) return labels.includes(label);
    return kind === 'loop' || (isBreak && kind === 'switch');
  });
  if (!a.flow.isAlive || !target) return;
  if (isBreak) target.breaks.push(a.flow.frontier);
  target.left.push(a.memory.since(target.depth));
  a.flow.isAlive = false;
}
