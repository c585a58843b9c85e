import type { Node, Program } from 'oxc-parser';
import { isReferenceIdentifier, ScopeTracker, type ScopeTrackerNode, walk } from 'oxc-walker';

/** Who is meant by each name of a program, and where each node stands. */
export interface Names {
  /** Null: not the program's own, but the guest's world (`mcp`, `args`, `Math`). */
  declarationOf(identifier: Node): ScopeTrackerNode | null;
  parentOf(node: Node): Node | null;
  /** Uses of a name that the program does not declare where they stand. */
  free(name: string): readonly Node[];
  /** Whether `args` means the program's arguments at this node. */
  seesArguments(node: Node): boolean;
}

export function resolveNames(program: Program): Names {
  const declarations = new Map<Node, ScopeTrackerNode>();
  const parents = new Map<Node, Node | null>();
  const free = new Map<string, Node[]>();
  const blind = new Set<Node>();
  const scopeTracker = new ScopeTracker({ preserveExitedScopes: true });
  walk(program, { scopeTracker });
  // The second walk knows what is declared further down: functions and `var` are used before they stand there.
  scopeTracker.freeze();
  walk(program, {
    scopeTracker,
    enter(node, parent) {
      parents.set(node, parent);
      if (scopeTracker.isDeclared('args')) blind.add(node);
      if (node.type !== 'Identifier') return;
      const declaration = scopeTracker.getDeclaration(node.name);
      if (declaration && declaration.type !== 'FunctionArguments') declarations.set(node, declaration);
      else if (isReferenceIdentifier(node, parent)) {
        const uses = free.get(node.name);
        if (uses) uses.push(node);
        else free.set(node.name, [node]);
      }
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
    free: (name) => free.get(name) ?? [],
    seesArguments: (node) => !blind.has(node),
  };
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
