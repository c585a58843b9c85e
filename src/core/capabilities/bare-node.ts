import type { Node } from 'oxc-parser';

/** What only the type checker sees, or only the eye. */
const WRAPPERS = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

/** TypeScript that leaves something behind in the running program. */
const LIVING = new Set([
  'TSEnumDeclaration',
  'TSEnumBody',
  'TSEnumMember',
  'TSModuleDeclaration',
  'TSModuleBlock',
  'TSParameterProperty',
]);

/** The expression without parentheses, casts and the like around it. */
export function bareNode(node: Node): Node {
  let inner = node;
  while (WRAPPERS.has(inner.type)) inner = (inner as Node & { expression: Node }).expression;
  return inner;
}

/** The value an expression gives: past the end of a `?.` chain too. */
export function valueNode(node: Node): Node {
  const inner = bareNode(node);
  return inner.type === 'ChainExpression' ? valueNode(inner.expression) : inner;
}

/** Whether nothing of it is left when the program runs: types, declarations of what is elsewhere, a lone `;`. */
export function isErased(node: Node): boolean {
  if (node.type === 'EmptyStatement' || ('declare' in node && node.declare === true)) return true;
  if (node.type === 'MethodDefinition') return isErased(node.value);
  return node.type.startsWith('TS') && !LIVING.has(node.type) && !WRAPPERS.has(node.type);
}

/** The name in `.name`, `['name']`, `name:`, `'name':` and `[1]`; null when only a run can tell. */
export function staticKey(key: Node, isComputed: boolean): string | null {
  const node = bareNode(key);
  if (node.type === 'Identifier' && !isComputed) return node.name;
  if (node.type === 'Literal' && (typeof node.value === 'string' || typeof node.value === 'number'))
    return String(node.value);
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? null;
  return null;
}
