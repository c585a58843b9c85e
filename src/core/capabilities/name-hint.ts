import type { Node } from 'oxc-parser';
import { bareNode, staticKey, valueNode } from './bare-node.ts';
import type { Names } from './names.ts';

/** What the code around a literal calls it: its variable, its property, what it is compared with. */
export function nameHint(node: Node, names: Names): string | null {
  let value = node;
  let user = names.parentOf(node);
  while (user && (bareNode(user) !== user || user.type === 'TemplateLiteral')) {
    value = user;
    user = names.parentOf(user);
  }
  switch (user?.type) {
    case 'VariableDeclarator':
      return nameOf(user.id);
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return nameOf(user.left);
    case 'Property':
    case 'PropertyDefinition':
      return staticKey(user.key, user.computed);
    case 'BinaryExpression':
      return nameOf(user.left === value ? user.right : user.left);
    case 'ForOfStatement': {
      const each = user.left.type === 'VariableDeclaration' ? user.left.declarations[0]?.id : user.left;
      const name = each && nameOf(each);
      return name ? `${name}_list` : null;
    }
    default:
      return null;
  }
}

function nameOf(wrapped: Node): string | null {
  const node = valueNode(wrapped);
  if (node.type === 'Identifier') return node.name;
  return node.type === 'MemberExpression' ? staticKey(node.property, node.computed) : null;
}
