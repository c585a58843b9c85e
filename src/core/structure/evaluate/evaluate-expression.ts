import type {
  ArrowFunctionExpression,
  AssignmentExpression,
  AwaitExpression,
  BinaryExpression,
  ChainExpression,
  ConditionalExpression,
  Expression,
  Function as FunctionNode,
  IdentifierReference,
  LogicalExpression,
  MemberExpression,
  PrivateIdentifier,
  PrivateInExpression,
  Span,
  UnaryExpression,
  UpdateExpression,
} from 'oxc-parser';
import { type Analysis, noteChain } from './analysis.ts';
import { assignTo, currentValue } from './assign.ts';
import { decideOn, markDecision, provide, runBranches } from './branches.ts';
import { evaluateCall, evaluateNew, evaluateTagged } from './evaluate-call.ts';
import { evaluateClass } from './evaluate-class.ts';
import { evaluateArray, evaluateObject } from './evaluate-literal.ts';
import { evaluateTemplate, foldBinary, foldUnary } from './fold-operators.ts';
import {
  type FunctionValue,
  join,
  literal,
  NOTHING_KNOWN,
  sourcesOf,
  unknownFrom,
  type Value,
} from './value.ts';
import { keyed, member } from './value-members.ts';

export function evaluateExpression(a: Analysis, node: Expression): Value {
  switch (node.type) {
    case 'Literal':
      return evaluateLiteral(node.value);
    case 'Identifier':
      return evaluateIdentifier(a, node);
    case 'TemplateLiteral':
      return evaluateTemplate(a, node);
    case 'TaggedTemplateExpression':
      return evaluateTagged(a, node);
    case 'ArrayExpression':
      return evaluateArray(a, node);
    case 'ObjectExpression':
      return evaluateObject(a, node);
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return evaluateFunction(a, node);
    case 'ClassExpression':
      return evaluateClass(a, node);
    case 'MemberExpression':
      return evaluateMember(a, node);
    case 'ChainExpression':
      return evaluateChain(a, node);
    case 'CallExpression':
      return evaluateCall(a, node);
    case 'NewExpression':
      return evaluateNew(a, node);
    case 'AwaitExpression':
      return evaluateAwait(a, node);
    case 'AssignmentExpression':
      return evaluateAssignment(a, node);
    case 'BinaryExpression':
      return evaluateBinary(a, node);
    case 'LogicalExpression':
      return evaluateLogical(a, node);
    case 'ConditionalExpression':
      return evaluateConditional(a, node);
    case 'UnaryExpression':
      return evaluateUnary(a, node);
    case 'UpdateExpression':
      return evaluateUpdate(a, node);
    case 'SequenceExpression':
      return node.expressions.map((each) => a.evaluate(each)).at(-1) ?? NOTHING_KNOWN;
    case 'YieldExpression':
      if (node.argument) a.frame.yields.push(a.evaluate(node.argument));
      return NOTHING_KNOWN;
    case 'ThisExpression':
      return a.frame.self;
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSTypeAssertion':
    case 'TSNonNullExpression':
    case 'TSInstantiationExpression':
      return a.evaluate(node.expression);
    case 'ImportExpression':
      return unknownFrom(a.evaluate(node.source));
    case 'MetaProperty':
      if (node.meta.name === 'import')
        a.refuse(node.start, 'import.meta is not available: code is not a module');
      return NOTHING_KNOWN;
    default:
      return NOTHING_KNOWN;
  }
}

function evaluateLiteral(value: unknown): Value {
  const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain ? literal(value as string | number | boolean | null) : NOTHING_KNOWN;
}

function evaluateIdentifier(a: Analysis, { name }: IdentifierReference): Value {
  const cell = a.scope.find(name);
  if (!cell) {
    if (name === 'undefined') return literal(undefined);
    return { kind: 'global', name };
  }
  const value = cell.value ?? NOTHING_KNOWN;
  if (a.captures && (cell.born ?? 0) <= a.captures.since) {
    for (const node of sourcesOf(value)) a.captures.sources.add(node);
  }
  return value;
}

function evaluateFunction(a: Analysis, node: FunctionNode | ArrowFunctionExpression): FunctionValue {
  const self = node.type === 'ArrowFunctionExpression' ? a.frame.self : NOTHING_KNOWN;
  return a.note({ kind: 'function', node, scope: a.scope, self });
}

function evaluateMember(a: Analysis, node: MemberExpression): Value {
  const object = a.evaluate(node.object);
  if (node.computed) return keyed(object, a.evaluate(node.property));
  return member(
    object,
    node.property.type === 'PrivateIdentifier' ? `#${node.property.name}` : node.property.name,
  );
}

function evaluateChain(a: Analysis, node: ChainExpression): Value {
  noteChain(a.chains, node);
  return a.evaluate(node.expression);
}

function evaluateAwait(a: Analysis, node: AwaitExpression): Value {
  a.awaiting = node.argument;
  const value = a.evaluate(node.argument);
  if (value.kind === 'promise') {
    a.flow.settle(value.begins, value.ends);
    return value.value;
  }
  if (value.kind === 'unknown') {
    a.flow.settle([], value.ends);
    return value.ends.length > 0 ? { ...value, ends: [] } : value;
  }
  return value;
}

/** The branch in which the right side runs. */
const BRANCH_OF = { '&&': 'true', '||': 'false', '??': 'nullish' } as const;

/** Long sums are nested on the left, so a loop descends the left side. */
function evaluateBinary(a: Analysis, node: BinaryExpression | PrivateInExpression): Value {
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

function evaluateUnary(a: Analysis, { operator, argument }: UnaryExpression): Value {
  if (operator === 'delete') fixChains(a, argument);
  const value = a.evaluate(argument);
  return foldUnary(operator, value) ?? (operator === 'typeof' ? NOTHING_KNOWN : unknownFrom(value));
}

/** `delete` applies to the end of the chain itself, so the chain must not be split. */
function fixChains(a: Analysis, argument: Expression): void {
  const inner = argument.type === 'ParenthesizedExpression' ? argument.expression : argument;
  if (inner.type === 'ChainExpression') noteChain(a.chains, inner, true);
}

function evaluateUpdate(a: Analysis, { argument }: UpdateExpression): Value {
  const before = currentValue(a, argument);
  assignTo(a, argument, unknownFrom(before), argument);
  return unknownFrom(before);
}

function evaluateConditional(a: Analysis, node: ConditionalExpression): Value {
  const values: Value[] = [];
  const branch = (expression: Expression) => () => {
    values.push(a.evaluate(expression));
  };
  decideOn(a, node, node.test, branch(node.consequent), branch(node.alternate));
  return values.reduce(join);
}

function evaluateLogical(a: Analysis, node: LogicalExpression): Value {
  const left = a.evaluate(node.left);
  const right = decideShort(a, node, node.operator, node.left, left, node.right);
  // With `&&` the result is the left side only if that is falsy, and then it has no use.
  return node.operator === '&&' ? unknownFrom(left, right) : join(left, right);
}

function evaluateAssignment(a: Analysis, node: AssignmentExpression): Value {
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
  // A function gets its name only where it is assigned directly.
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
