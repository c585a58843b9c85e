import type { Node } from 'oxc-parser';
import { bareNode, staticKey } from './bare-node.ts';
import type { Names } from './names.ts';

const DEFAULTS = {
  /** How many constants in a row are followed; the text may set them in a circle. */
  maxHops: 32,
};

/** What a `const`, or a property of a `const` object, was set to; else the node itself. */
export function constantValue(wrapped: Node, names: Names, hops = 0): Node {
  const node = bareNode(wrapped);
  if (hops > DEFAULTS.maxHops) return node;
  if (node.type === 'Identifier') {
    const constant = constantOf(node, names);
    if (!constant) return node;
    let value: Node | null = constantValue(constant.init, names, hops + 1);
    for (const key of constant.path) value = value && propertyOf(value, key, names, hops + 1);
    return value ?? node;
  }
  if (node.type !== 'MemberExpression') return node;
  const key = staticKey(node.property, node.computed);
  if (key === null) return node;
  return propertyOf(constantValue(node.object, names, hops + 1), key, names, hops + 1) ?? node;
}

function propertyOf(object: Node, key: string, names: Names, hops: number): Node | null {
  if (object.type !== 'ObjectExpression') return null;
  const property = object.properties.findLast(
    (one) => one.type === 'Property' && staticKey(one.key, one.computed) === key,
  );
  return property?.type === 'Property' ? constantValue(property.value, names, hops) : null;
}

/** What a `const` of this name was set to: `init` whole, or what lies in it at `path`. */
export function constantOf(identifier: Node, names: Names): { init: Node; path: readonly string[] } | null {
  const declaration = names.declarationOf(identifier);
  if (declaration?.type !== 'Variable' || declaration.variableNode.kind !== 'const') return null;
  const path: string[] = [];
  for (let node: Node = declaration.node; ; ) {
    const parent = names.parentOf(node);
    if (parent?.type === 'VariableDeclarator')
      return parent.id === node && parent.init ? { init: parent.init, path } : null;
    if (parent?.type === 'Property' && parent.value === node) {
      const { key } = parent;
      if (parent.computed || key.type !== 'Identifier') return null;
      path.unshift(key.name);
    } else if (parent?.type !== 'ObjectPattern') return null;
    node = parent;
  }
}
