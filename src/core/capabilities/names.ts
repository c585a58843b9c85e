import type { Node, Program } from 'oxc-parser';
import { isReferenceIdentifier, ScopeTracker, type ScopeTrackerNode, walk } from 'oxc-walker';
import { bareNode, staticKey, valueNode } from './literal.ts';

const DEFAULTS = {
  /** How many constants in a row are followed; the text may set them in a circle. */
  maxHops: 32,
};

/** Who is meant by each name of a program, and where each node stands. */
export interface Names {
  /** Null: not the program's own, but the guest's world (`mcp`, `args`, `Math`). */
  declarationOf(identifier: Node): ScopeTrackerNode | null;
  parentOf(node: Node): Node | null;
  /** Uses of a name that the program does not declare where they stand. */
  free(name: string): readonly Node[];
  /** Where a name is used that is declared here. */
  usesOf(declared: Node): readonly Node[];
  /** Whether `args` means the program's arguments where this literal stands. */
  seesArguments(literal: Node): boolean;
}

const MAY_BE_LITERAL = new Set([
  'Literal',
  'TemplateLiteral',
  'TemplateElement',
  'UnaryExpression',
  'ArrayExpression',
]);

export function resolveNames(program: Program): Names {
  const declarations = new Map<Node, ScopeTrackerNode>();
  const parents = new Map<Node, Node | null>();
  /** By declaration, or by name where there is none. */
  const uses = new Map<ScopeTrackerNode | string, Node[]>();
  const blind = new Set<Node>();
  const scopeTracker = new ScopeTracker({ preserveExitedScopes: true });
  walk(program, { scopeTracker });
  // The second walk knows what is declared further down: functions and `var` are used before they stand there.
  scopeTracker.freeze();
  walk(program, {
    scopeTracker,
    enter(node, parent) {
      parents.set(node, parent);
      if (MAY_BE_LITERAL.has(node.type) && scopeTracker.isDeclared('args')) blind.add(node);
      if (node.type !== 'Identifier') return;
      const found = scopeTracker.getDeclaration(node.name);
      const declaration = found?.type === 'FunctionArguments' ? null : found;
      if (declaration) declarations.set(node, declaration);
      if (!isReferenceIdentifier(node, parent) || declaration?.node === node) return;
      const key = declaration ?? node.name;
      const others = uses.get(key);
      if (others) others.push(node);
      else uses.set(key, [node]);
    },
    leave(node) {
      // Within itself, a function's name may be hidden by a parameter of the same name.
      if (node.type !== 'FunctionDeclaration' || !node.id) return;
      const declaration = scopeTracker.getDeclaration(node.id.name);
      if (declaration) declarations.set(node.id, declaration);
    },
  });
  return {
    declarationOf: (identifier) => declarations.get(identifier) ?? null,
    parentOf: (node) => parents.get(node) ?? null,
    free: (name) => uses.get(name) ?? [],
    usesOf(declared) {
      const declaration = declarations.get(declared);
      return (declaration && uses.get(declaration)) ?? [];
    },
    seesArguments: (literal) => !blind.has(literal),
  };
}

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

/** What uses a value, past parentheses, casts and the ends of `?.` chains. */
export function userOf(node: Node, names: Names): Node | null {
  let user = names.parentOf(node);
  while (user && valueNode(user) !== user) user = names.parentOf(user);
  return user;
}
