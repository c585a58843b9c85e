import type { Node } from 'oxc-parser';
import { bareNode, staticKey, valueNode } from './bare-node.ts';
import { constantValue } from './constant-value.ts';
import { type LiteralValue, literalValue } from './literal.ts';
import { type Names, userOf } from './names.ts';

/** How many names lead to something that can be called: `mcp.server.tool`, `capabilities.slug`. */
const DEPTHS = { mcp: 2, capabilities: 1 };

/**
 * Literals that choose what is called do not vary, or one capability would be several: they belong to
 * the program. Where the text does not show which ones choose, any text may.
 */
export function toolNames(names: Names): (literal: Node) => boolean {
  const naming = new Set<Node>();
  const followed = new Set<Node>();
  let isOpen = false;
  for (const [root, depth] of Object.entries(DEPTHS)) for (const use of names.free(root)) follow(use, depth);
  return (literal) => naming.has(literal) || (isOpen && isText(literal));

  /** `node` is an object so many names above its tools. */
  function follow(node: Node, depth: number): void {
    if (depth === 0 || followed.has(node)) return;
    followed.add(node);
    const user = userOf(node, names);
    if (user?.type === 'MemberExpression' && valueNode(user.object) === node) {
      if (staticKey(user.property, user.computed) === null && !chooses(user.property)) isOpen = true;
      follow(user, depth - 1);
    } else if (user?.type === 'VariableDeclarator' && names.parentOf(user)?.type === 'VariableDeclaration')
      alias(user.id, depth, names.parentOf(user) as Node & { type: 'VariableDeclaration' });
    else if (user?.type !== 'ExpressionStatement') isOpen = true;
  }

  function alias(pattern: Node, depth: number, declaration: Node & { type: 'VariableDeclaration' }): void {
    if (depth === 0) return;
    if (pattern.type === 'Identifier' && declaration.kind === 'const') {
      for (const use of names.usesOf(pattern)) follow(use, depth);
    } else if (pattern.type === 'ObjectPattern') {
      for (const property of pattern.properties) {
        const key = property.type === 'Property' ? staticKey(property.key, property.computed) : null;
        if (property.type !== 'Property' || key === null) isOpen = true;
        else alias(property.value, depth - 1, declaration);
      }
    } else isOpen = true;
  }

  /** Marks the literals that a name is made of; false when there is more to it than literals. */
  function chooses(name: Node): boolean {
    const node = constantValue(name, names);
    // Each piece once: constants that use each other twice would take for ever.
    if (naming.has(node)) return true;
    naming.add(node);
    if (literalValue(node)) return true;
    if (node.type === 'BinaryExpression') return [node.left, node.right].every(chooses);
    if (node.type !== 'TemplateLiteral') return false;
    for (const part of node.quasis) naming.add(part);
    return node.expressions.every(chooses);
  }
}

function isText(literal: Node): boolean {
  if (literal.type === 'TemplateElement') return true;
  const kind = literalValue(literal)?.kind;
  return kind === 'string' || kind === 'list';
}

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
