import type {
  Argument,
  ArrayExpression,
  BinaryExpression,
  Expression,
  ObjectExpression,
  PropertyKey,
  TemplateLiteral,
  UnaryExpression,
} from 'oxc-parser';
import type { Analysis, Arguments } from './analysis.ts';
import {
  type Literal,
  literal,
  NOTHING_KNOWN,
  type ObjectValue,
  objectValue,
  setProperty,
  UNDEFINED,
  unknownFrom,
  type Value,
} from './value.ts';

const DEFAULTS = {
  /** Longest folded string: doubling a string thirty times takes three lines of code. */
  maxLength: 100_000,
};

export function evaluateTemplate(a: Analysis, { quasis, expressions }: TemplateLiteral): Value {
  const values = expressions.map((each) => a.evaluate(each));
  const parts: Value[] = [];
  for (const [i, { value }] of quasis.entries()) {
    parts.push(literal(value.cooked ?? value.raw));
    if (i < values.length) parts.push(values[i]!);
  }
  return concatenate(parts) ?? unknownFrom(...values);
}

export function evaluateArray(a: Analysis, { elements }: ArrayExpression): ObjectValue {
  const array = objectValue(true);
  let index = 0;
  const push = (value: Value) => {
    if (array.isOpen) a.memory.add(array.rest, value);
    else setProperty(array, String(index++), { value });
  };
  for (const element of elements) {
    if (element === null) index++;
    else if (element.type !== 'SpreadElement') push(a.evaluate(element));
    else {
      const spread = a.evaluate(element.argument);
      if (isListed(spread)) for (const cell of spread.props.values()) push(cell.value ?? NOTHING_KNOWN);
      else {
        array.isOpen = true;
        push(unknownFrom(spread));
      }
    }
  }
  return array;
}

/** An array all of whose elements are known. */
export function isListed(value: Value): value is ObjectValue {
  return value.kind === 'object' && value.isArray && !value.isOpen;
}

export function evaluateObject(a: Analysis, { properties }: ObjectExpression): ObjectValue {
  const object = objectValue(false);
  for (const property of properties) {
    if (property.type === 'SpreadElement') {
      spreadInto(a, object, a.evaluate(property.argument));
      continue;
    }
    const key = keyName(a, property.key, property.computed);
    const made = a.evaluate(property.value);
    // The value of a getter is unknown before the run.
    const isAccessor = property.kind !== 'init';
    const value = isAccessor
      ? NOTHING_KNOWN
      : made.kind === 'function' && property.method
        ? { ...made, self: object }
        : made;
    if (key === null) {
      object.isOpen = true;
      a.memory.add(object.rest, unknownFrom(value));
    } else setProperty(object, key, { value, text: property.value });
  }
  return object;
}

/** Null if the key is known only at run time. */
export function keyName(a: Analysis, key: PropertyKey, isComputed: boolean): string | null {
  if (!isComputed && key.type === 'Identifier') return key.name;
  if (key.type === 'PrivateIdentifier') return `#${key.name}`;
  const value = a.evaluate(key as Expression);
  return value.kind === 'literal' ? String(value.value) : null;
}

export function spreadInto(a: Analysis, target: ObjectValue, from: Value): void {
  if (from.kind === 'object') a.spend(from.props.size);
  if (from.kind === 'literal' && typeof from.value !== 'string') return;
  if (from.kind !== 'object') {
    target.isOpen = true;
    // Existing properties may be overwritten.
    for (const cell of target.props.values()) {
      a.memory.set(cell, unknownFrom(cell.value, from));
      cell.text = undefined;
    }
    a.memory.add(target.rest, unknownFrom(from));
    return;
  }
  for (const [key, { value, text }] of from.props) {
    const cell = target.props.get(key) ?? { value: null };
    a.memory.set(cell, value ?? NOTHING_KNOWN);
    if (text) cell.text = text;
    setProperty(target, key, cell);
  }
  if (!from.isOpen) return;
  target.isOpen = true;
  if (from.rest.value) a.memory.add(target.rest, from.rest.value);
}

type Operators = Readonly<Record<string, (a: never, b: never) => Literal['value']>>;

const ARITHMETIC: Operators = {
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
  '**': (a: number, b: number) => a ** b,
  '<': (a: number, b: number) => a < b,
  '>': (a: number, b: number) => a > b,
  '<=': (a: number, b: number) => a <= b,
  '>=': (a: number, b: number) => a >= b,
  '&': (a: number, b: number) => a & b,
  '|': (a: number, b: number) => a | b,
};

/** Null if the result is known only at run time. */
export function foldBinary(operator: BinaryExpression['operator'], a: Value, b: Value): Literal | null {
  if (a.kind !== 'literal' || b.kind !== 'literal') return null;
  if (operator === '===') return literal(a.value === b.value);
  if (operator === '!==') return literal(a.value !== b.value);
  if (operator === '+' && (typeof a.value === 'string' || typeof b.value === 'string')) {
    return concatenate([a, b]);
  }
  if (typeof a.value !== 'number' || typeof b.value !== 'number') return null;
  if (operator === '+') return literal(a.value + b.value);
  const compute = ARITHMETIC[operator] as ((a: number, b: number) => Literal['value']) | undefined;
  return compute ? literal(compute(a.value, b.value)) : null;
}

/** Like a template string; null if a part is known only at run time. */
function concatenate(parts: readonly Value[]): Literal | null {
  let text = '';
  for (const part of parts) {
    if (part.kind !== 'literal') return null;
    text += String(part.value);
    if (text.length > DEFAULTS.maxLength) return null;
  }
  return literal(text);
}

export function foldUnary(operator: UnaryExpression['operator'], value: Value): Literal | null {
  if (operator === 'void') return UNDEFINED;
  if (value.kind !== 'literal') return null;
  if (operator === '!') return literal(!value.value);
  if (typeof value.value !== 'number') return null;
  if (operator === '-') return literal(-value.value);
  return operator === '+' ? value : null;
}

export function evaluateArguments(a: Analysis, nodes: readonly Argument[]): Arguments {
  const values: Value[] = [];
  const texts: Expression[] = [];
  let more: Value | null = null;
  for (const node of nodes) {
    if (node.type !== 'SpreadElement') {
      const value = a.evaluate(node);
      if (more) more = unknownFrom(more, value);
      else {
        values.push(value);
        texts.push(node);
      }
      continue;
    }
    const spread = a.evaluate(node.argument);
    if (more || !isListed(spread)) more = unknownFrom(more, spread);
    else {
      for (const cell of spread.props.values()) {
        values.push(cell.value ?? NOTHING_KNOWN);
        texts.push(node.argument);
      }
    }
  }
  return { values, more, texts };
}
