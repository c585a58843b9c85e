import type { BinaryExpression, UnaryExpression } from 'oxc-parser';
import { type Literal, literal, UNDEFINED, type Value } from './value.ts';

const DEFAULTS = {
  /** A folded string may not grow beyond this: doubling one thirty times takes three lines of code. */
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

/** Null when it is known only in the run. */
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

/** As a template string does it; null when a part is known only in the run. */
export function concatenate(parts: readonly Value[]): Literal | null {
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
