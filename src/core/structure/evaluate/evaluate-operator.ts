import type {
  AssignmentExpression,
  BinaryExpression,
  ConditionalExpression,
  Expression,
  LogicalExpression,
  PrivateIdentifier,
  PrivateInExpression,
  Span,
  UnaryExpression,
  UpdateExpression,
} from 'oxc-parser';
import { type Analysis, noteChain } from './analysis.ts';
import { assignTo, currentValue } from './assign.ts';
import { decideOn, markDecision, provide, runBranches } from './branches.ts';
import { foldBinary, foldUnary } from './evaluate-literal.ts';
import { join, NOTHING_KNOWN, unknownFrom, type Value } from './value.ts';

/** Which branch the right side is. */
const BRANCH_OF = { '&&': 'true', '||': 'false', '??': 'nullish' } as const;

/** Sums of many parts lean to the left, so the left side is gone down in a loop. */
export function evaluateBinary(a: Analysis, node: BinaryExpression | PrivateInExpression): Value {
  const spine: (BinaryExpression | PrivateInExpression)[] = [];
  let first: Expression | PrivateIdentifier = node;
  while (first.type === 'BinaryExpression') {
    spine.push(first);
    first = first.left;
  }
  let value = first.type === 'PrivateIdentifier' ? NOTHING_KNOWN : a.evaluate(first);
  for (const { operator, right } of spine.reverse()) {
    const other = a.evaluate(right);
    value = foldBinary(operator, value, other) ?? unknownFrom(value, other);
  }
  return value;
}

export function evaluateUnary(a: Analysis, { operator, argument }: UnaryExpression): Value {
  if (operator === 'delete') fixChains(a, argument);
  const value = a.evaluate(argument);
  return foldUnary(operator, value) ?? (operator === 'typeof' ? NOTHING_KNOWN : unknownFrom(value));
}

/** What is deleted is the end of the chain itself, which has to stay where it is. */
function fixChains(a: Analysis, argument: Expression): void {
  const inner = argument.type === 'ParenthesizedExpression' ? argument.expression : argument;
  if (inner.type === 'ChainExpression') noteChain(a.chains, inner, true);
}

export function evaluateUpdate(a: Analysis, { argument }: UpdateExpression): Value {
  const before = currentValue(a, argument);
  assignTo(a, argument, unknownFrom(before), argument);
  return unknownFrom(before);
}

export function evaluateConditional(a: Analysis, node: ConditionalExpression): Value {
  const values: Value[] = [];
  const branch = (expression: Expression) => () => {
    values.push(a.evaluate(expression));
  };
  decideOn(a, node, node.test, branch(node.consequent), branch(node.alternate));
  return values.reduce(join);
}

export function evaluateLogical(a: Analysis, node: LogicalExpression): Value {
  const left = a.evaluate(node.left);
  const right = decideShort(a, node, node.operator, node.left, left, node.right);
  // With `&&` the left side comes out only when it is falsy, and then it is nothing to use.
  return node.operator === '&&' ? unknownFrom(left, right) : join(left, right);
}

export function evaluateAssignment(a: Analysis, node: AssignmentExpression): Value {
  const { operator, left, right } = node;
  if (operator === '=') {
    const value = a.evaluate(right);
    assignTo(a, left, value, right);
    return value;
  }
  const before = currentValue(a, left as Expression);
  const short = operator.slice(0, -1);
  if (short === '&&' || short === '||' || short === '??') {
    const value = join(before, decideShort(a, node, short, left, before, right));
    assignTo(a, left, value, node);
    return value;
  }
  const other = a.evaluate(right);
  const value =
    foldBinary(short as BinaryExpression['operator'], before, other) ?? unknownFrom(before, other);
  assignTo(a, left, value, node);
  return value;
}

/** The right side of `&&`, `||` or `??`: a decision, if there are steps in it. */
function decideShort(
  a: Analysis,
  node: LogicalExpression | AssignmentExpression,
  operator: LogicalExpression['operator'],
  left: Span,
  uses: Value,
  right: Expression,
): Value {
  const branch = BRANCH_OF[operator];
  let value: Value = NOTHING_KNOWN;
  const run = () => {
    value = a.evaluate(right);
  };
  // A function keeps its name only where it is assigned directly.
  if (right.type.endsWith('FunctionExpression') || right.type === 'ClassExpression') {
    run();
    return value;
  }
  const content = { type: 'decision', condition: a.textOf(left) } as const;
  const decision = a.flow.stepIfUsed(node, content, node.start, (head) => {
    runBranches(a, head, [{ head: { node: head, type: 'conditional', branch }, run }], true);
  });
  if (!decision) return value;
  provide(a, decision, uses);
  const isTest = node.type === 'LogicalExpression' && operator !== '??';
  const probe = isTest
    ? ({ at: 'condition', condition: node.left } as const)
    : ({ at: 'expression', expression: right, branch } as const);
  markDecision(a, node, decision, probe);
  return value;
}
