import type { Argument, Expression } from 'oxc-parser';
import type { Analysis, Arguments } from './analysis.ts';
import { isListed } from './evaluate-literal.ts';
import { NOTHING_KNOWN, unknownFrom, type Value } from './value.ts';

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
