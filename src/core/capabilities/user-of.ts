import type { Node } from 'oxc-parser';
import { valueNode } from './bare-node.ts';
import type { Names } from './names.ts';

/** What uses a value, past parentheses, casts and the ends of `?.` chains. */
export function userOf(node: Node, names: Names): Node | null {
  let user = names.parentOf(node);
  while (user && valueNode(user) !== user) user = names.parentOf(user);
  return user;
}
