import type { BinaryExpression, TemplateLiteral, UnaryExpression } from 'oxc-parser';
import type { Analysis } from './analysis.ts';
import { type Literal, literal, UNDEFINED, unknownFrom, type Value } from './value.ts';

const DEFAULTS = {
  /** Longest folded string: doubling a string thirty times takes three lines of code. */
  maxLength: 100_000,
};

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

export function evaluateTemplate(a: Analysis, { quasis, expressions }: TemplateLiteral): Value {
  const values = expressions.map((each) => a.evaluate(each));
  const parts: Value[] = [];
  for (const [i, { value }] of quasis.entries()) {
    parts.push(literal(value.cooked ?? value.raw));
    if (i < values.length) parts.push(values[i]!);
  }
  return concatenate(parts) ?? unknownFrom(...values);
}
