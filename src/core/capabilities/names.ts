import type { Node, Program } from 'oxc-parser';
import { isReferenceIdentifier, ScopeTracker, type ScopeTrackerNode, walk } from 'oxc-walker';
import { valueNode } from './bare-node.ts';

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

/** What uses a value, past parentheses, casts and the ends of `?.` chains. */
export function userOf(node: Node, names: Names): Node | null {
  let user = names.parentOf(node);
  while (user && valueNode(user) !== user) user = names.parentOf(user);
  return user;
}
