import type { Node } from 'oxc-parser';
import { bareNode, staticKey, valueNode } from './bare-node.ts';
import { type LiteralValue, literalValue } from './literal.ts';
import type { Names } from './names.ts';
import { userOf } from './user-of.ts';

/** `args.name` in the program. */
export interface UsedArgument {
  readonly name: string;
  /** The program says what holds when it is missing: `args.limit ?? 10`, `const { limit = 10 } = args`. */
  readonly isOptional: boolean;
  /** That value, where it is a literal. */
  readonly fallback?: LiteralValue['value'];
}

export interface UsedArguments {
  /** In order of first use. */
  readonly named: readonly UsedArgument[];
  /** `args` is used as a whole (handed on, spread, read by computed keys): other names may count too. */
  readonly isOpen: boolean;
}

const FALLBACK_OPERATORS = new Set(['??', '||', '??=', '||=']);

/** What the program takes from its caller. */
export function usedArguments(names: Names): UsedArguments {
  const named = new Map<string, UsedArgument>();
  let isOpen = false;
  for (const use of names.free('args')) {
    const user = userOf(use, names);
    if (user?.type === 'MemberExpression' && valueNode(user.object) === use) {
      const name = staticKey(user.property, user.computed);
      if (name === null) isOpen = true;
      else add(name, fallbackOf(user, userOf(user, names)));
    } else if (user?.type === 'VariableDeclarator' && user.id.type === 'ObjectPattern') take(user.id);
    else isOpen = true;
  }
  return { named: [...named.values()], isOpen };

  function take(pattern: Node & { type: 'ObjectPattern' }): void {
    for (const property of pattern.properties) {
      const name = property.type === 'Property' ? staticKey(property.key, property.computed) : null;
      if (property.type !== 'Property' || name === null) isOpen = true;
      else add(name, property.value.type === 'AssignmentPattern' ? property.value.right : null);
    }
  }

  /** One use that does without is enough only if every use does. */
  function add(name: string, fallback: Node | null): void {
    const value = fallback ? literalValue(bareNode(fallback))?.value : undefined;
    const isOptional = fallback !== null && named.get(name)?.isOptional !== false;
    named.set(name, { name, isOptional, ...(isOptional && value !== undefined && { fallback: value }) });
  }
}

function fallbackOf(use: Node, user: Node | null): Node | null {
  if (user?.type !== 'LogicalExpression' && user?.type !== 'AssignmentExpression') return null;
  return valueNode(user.left) === use && FALLBACK_OPERATORS.has(user.operator) ? user.right : null;
}
