import type {
  AssignmentTarget,
  AssignmentTargetMaybeDefault,
  AssignmentTargetRest,
  BindingPattern,
  BindingRestElement,
  Expression,
  FormalParameterRest,
  Function as FunctionNode,
  MemberExpression,
  Span,
  Statement,
} from 'oxc-parser';
import type { Analysis } from './analysis.ts';
import { keyName } from './evaluate-literal.ts';
import {
  type Cell,
  isListed,
  join,
  NOTHING_KNOWN,
  type ObjectValue,
  objectsOf,
  objectValue,
  reachOf,
  setProperty,
  UNDEFINED,
  unknownFrom,
  type Value,
} from './value.ts';
import { elementOf, member } from './value-members.ts';

type Target =
  | BindingPattern
  | AssignmentTarget
  | AssignmentTargetMaybeDefault
  | AssignmentTargetRest
  | BindingRestElement
  | FormalParameterRest;

/** Gives a name in a pattern its value: declares a variable or assigns to an existing one. */
export type Put = (name: string, value: Value, text: Span) => void;

/** `target = value`, for any kind of target. */
export function assignTo(a: Analysis, target: Target, value: Value, text: Span): void {
  spread(a, target, value, text, (name, part, from) => {
    const cell = a.scope.find(name);
    if (cell) putIn(a, cell, part, from);
    else leave(a, part, from);
  });
}

/** `const target = value`, in the given scope. */
export function declareAs(a: Analysis, target: Target, value: Value, text: Span, scope = a.scope): void {
  spread(a, target, value, text, (name, part, from) => putIn(a, a.declare(name, scope), part, from));
}

/** The value of `target` before it is assigned to. */
export function currentValue(a: Analysis, target: Expression): Value {
  return a.evaluate(target);
}

function putIn(a: Analysis, cell: Cell, value: Value, text: Span): void {
  a.memory.set(cell, value);
  cell.text = text;
}

function spread(a: Analysis, target: Target, value: Value, text: Span, put: Put): void {
  switch (target.type) {
    case 'Identifier':
      put(target.name, value, text);
      return;
    case 'AssignmentPattern':
      spread(a, target.left, withDefault(a, value, target.right), text, put);
      return;
    case 'ObjectPattern':
      spreadObject(a, target, value, put);
      return;
    case 'ArrayPattern':
      target.elements.forEach((element, index) => {
        if (!element) return;
        const isRest = element.type === 'RestElement';
        spread(
          a,
          isRest ? element.argument : element,
          isRest ? tailOf(value, index) : nth(value, index),
          element,
          put,
        );
      });
      return;
    case 'RestElement':
      spread(a, target.argument, value, text, put);
      return;
    case 'MemberExpression':
      assignMember(a, target, value, text);
      return;
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'TSTypeAssertion':
      spread(a, target.expression as AssignmentTarget, value, text, put);
  }
}

type ObjectTarget = Extract<Target, { type: 'ObjectPattern' }>;

function spreadObject(a: Analysis, { properties }: ObjectTarget, value: Value, put: Put): void {
  const taken: string[] = [];
  for (const property of properties) {
    if (property.type === 'RestElement') {
      spread(a, property.argument, without(value, taken), property, put);
      continue;
    }
    const key = keyName(a, property.key, property.computed);
    if (key !== null) taken.push(key);
    const part = key === null ? unknownFrom(value) : member(value, key);
    spread(a, property.value as Target, part, property, put);
  }
}

function withDefault(a: Analysis, value: Value, fallback: Expression): Value {
  if (value.kind === 'literal' && value.value !== undefined) return value;
  if (value.kind === 'object' || value.kind === 'function' || value.kind === 'api') return value;
  const other = a.evaluate(fallback);
  return value === UNDEFINED || value.kind === 'literal' ? other : join(value, other);
}

function nth(value: Value, index: number): Value {
  if (isListed(value)) return value.props.get(String(index))?.value ?? UNDEFINED;
  if (value.kind === 'result' || value.kind === 'parameter') return member(value, String(index));
  return elementOf(value);
}

function tailOf(value: Value, from: number): Value {
  if (!isListed(value)) return unknownFrom(value);
  const tail = objectValue(true);
  for (const [index, cell] of value.props) {
    if (Number(index) >= from) tail.props.set(String(Number(index) - from), { value: cell.value });
  }
  return tail;
}

function without(value: Value, keys: readonly string[]): Value {
  if (value.kind !== 'object') return unknownFrom(value);
  const rest = objectValue(false);
  for (const [key, cell] of value.props) if (!keys.includes(key)) rest.props.set(key, { ...cell });
  rest.isOpen = value.isOpen;
  rest.rest.value = value.rest.value;
  return rest;
}

function assignMember(a: Analysis, target: MemberExpression, value: Value, text: Span): void {
  const object = a.evaluate(target.object);
  const key = target.computed
    ? keyName(a, target.property, true)
    : target.property.type === 'PrivateIdentifier'
      ? `#${target.property.name}`
      : target.property.name;
  if (object.kind === 'object') {
    if (key === null) {
      mayPut(a, object, key, value);
      return;
    }
    const cell = object.props.get(key) ?? { value: null };
    setProperty(object, key, cell);
    putIn(a, cell, value, text);
    return;
  }
  for (const each of objectsOf(object)) mayPut(a, each, key, value);
  taint(a, target.object, value);
  leave(a, value, text);
}

/** Applies a change to an object that may or may not be the changed one. */
function mayPut(a: Analysis, object: ObjectValue, key: string | null, value: Value): void {
  const known = key === null ? object.props.values() : [object.props.get(key) ?? object.rest];
  for (const cell of known) a.memory.add(cell, value);
  if (key !== null && object.props.has(key)) return;
  object.isOpen = true;
  a.memory.add(object.rest, value);
}

/** A value was put into the object that an expression gives; a variable that holds it is no longer exact. */
export function taint(a: Analysis, expression: Expression, value: Value): void {
  const root = rootOf(expression);
  const cell = root === null ? null : a.scope.find(root);
  if (!cell?.value || cell.value.kind === 'api' || cell.value.kind === 'object') return;
  a.memory.set(cell, unknownFrom(cell.value, value));
}

function rootOf(expression: Expression): string | null {
  let node = expression;
  while (true) {
    if (node.type === 'Identifier') return node.name;
    if (node.type === 'MemberExpression') node = node.object;
    else if (node.type === 'ParenthesizedExpression' || node.type === 'TSNonNullExpression')
      node = node.expression;
    else return null;
  }
}

/** Tools stored where the analysis cannot follow them may be called unseen. */
function leave(a: Analysis, value: Value, text: Span): void {
  if (value.kind === 'unknown' && value.sources.length > 0) return;
  if (reachOf(value) === null) return;
  a.draft.leaveUnresolved(
    text.start,
    a.textOf(text),
    'Tools are stored where the analysis cannot follow them',
  );
}

/** Functions of a block can be called before their declaration; other names are at least declared. */
export function hoist(a: Analysis, statements: readonly Statement[]): void {
  for (const statement of statements) {
    switch (statement.type) {
      case 'FunctionDeclaration':
        hoistFunction(a, statement);
        break;
      case 'ClassDeclaration':
      case 'TSEnumDeclaration':
        if (statement.id) a.declare(statement.id.name);
        break;
      case 'VariableDeclaration':
        if (statement.kind === 'var') break;
        for (const { id } of statement.declarations) if (id.type === 'Identifier') a.declare(id.name);
    }
  }
}

function hoistFunction(a: Analysis, node: FunctionNode): void {
  if (!node.id || !node.body) return;
  const fn = a.note({ kind: 'function', node, scope: a.scope, self: NOTHING_KNOWN });
  declareAs(a, node.id, fn, node.id);
}
