import type { Node } from 'oxc-parser';
import { bareNode } from './bare-node.ts';

/** `text`: a fixed part of a template string. `list`: plain literals of one kind, at least one. */
export const SLOT_KINDS = ['string', 'number', 'boolean', 'null', 'bigint', 'text', 'list'] as const;
export type SlotKind = (typeof SLOT_KINDS)[number];

type Scalar = string | number | boolean | null;

export interface LiteralValue {
  readonly kind: SlotKind;
  /** JSON: a bigint is its digits, a list an array. */
  readonly value: Scalar | readonly Scalar[];
}

const LISTED = new Set<SlotKind>(['string', 'number', 'boolean']);

/**
 * The value a piece of code is, if it is one: text in any quotes, a number with its sign, a list of such.
 * A regular expression is none: it is part of how the program works.
 */
export function literalValue(node: Node): LiteralValue | null {
  switch (node.type) {
    case 'Literal':
      return scalar(node);
    case 'TemplateLiteral': {
      const text = node.expressions.length === 0 ? node.quasis[0]?.value.cooked : null;
      return typeof text === 'string' ? { kind: 'string', value: text } : null;
    }
    case 'UnaryExpression': {
      const argument = bareNode(node.argument);
      return node.operator === '-' && argument.type === 'Literal' ? negated(scalar(argument)) : null;
    }
    case 'ArrayExpression':
      return list(node.elements);
    default:
      return null;
  }
}

function scalar(node: Node & { type: 'Literal' }): LiteralValue | null {
  if ('bigint' in node && typeof node.bigint === 'string') return { kind: 'bigint', value: node.bigint };
  if ('regex' in node && node.regex) return null;
  const { value } = node;
  if (typeof value === 'string') return { kind: 'string', value };
  // A number too large for a double would not survive JSON.
  if (typeof value === 'number') return Number.isFinite(value) ? { kind: 'number', value } : null;
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  return value === null ? { kind: 'null', value } : null;
}

function negated(literal: LiteralValue | null): LiteralValue | null {
  if (literal?.kind === 'number') return { kind: 'number', value: -(literal.value as number) };
  if (literal?.kind === 'bigint') return { kind: 'bigint', value: `-${literal.value}` };
  return null;
}

function list(elements: readonly (Node | null)[]): LiteralValue | null {
  const values: Scalar[] = [];
  let kind: SlotKind | null = null;
  for (const element of elements) {
    const literal = element && literalValue(bareNode(element));
    if (!literal || !LISTED.has(literal.kind) || (kind && kind !== literal.kind)) return null;
    kind = literal.kind;
    values.push(literal.value as Scalar);
  }
  return kind && { kind: 'list', value: values };
}
