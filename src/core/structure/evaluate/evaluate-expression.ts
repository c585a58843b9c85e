import type {
  ArrowFunctionExpression,
  AwaitExpression,
  ChainExpression,
  Expression,
  Function as FunctionNode,
  IdentifierReference,
  MemberExpression,
} from 'oxc-parser';
import { type Analysis, noteChain } from './analysis.ts';
import { evaluateCall, evaluateNew, evaluateTagged } from './evaluate-call.ts';
import { evaluateClass } from './evaluate-class.ts';
import { evaluateArray, evaluateObject, evaluateTemplate } from './evaluate-literal.ts';
import {
  evaluateAssignment,
  evaluateBinary,
  evaluateConditional,
  evaluateLogical,
  evaluateUnary,
  evaluateUpdate,
} from './evaluate-operator.ts';
import { type FunctionValue, literal, NOTHING_KNOWN, sourcesOf, unknownFrom, type Value } from './value.ts';
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
