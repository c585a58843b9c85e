import type { Node, Program } from 'oxc-parser';
import { walk } from 'oxc-walker';
import { bareNode, valueNode } from '../../capabilities/bare-node.ts';
import type { Names } from '../../capabilities/names.ts';

/** Methods that change what they are called on. */
const CHANGING = new Set(
  'push pop shift unshift splice sort reverse fill copyWithin set add delete clear'.split(' '),
);

type FunctionNode = Node & { type: 'ArrowFunctionExpression' | 'FunctionExpression' };

/** `(async (args, deps) => {…})({…}, {…})`: code as a task of a plan has it. */
export function codeTaskOf(call: Node & { type: 'CallExpression' }): FunctionNode | null {
  const fn = bareNode(call.callee);
  if (fn.type !== 'ArrowFunctionExpression' && fn.type !== 'FunctionExpression') return null;
  const params = fn.params.map((param) => (param.type === 'Identifier' ? param.name : ''));
  const isTask = fn.async && params.join() === 'args,deps' && call.arguments.length === 2;
  return isTask && fn.body?.type === 'BlockStatement' ? (fn as FunctionNode) : null;
}

/** Where a program may call tools, directly or through a variable, and what it changes. */
export class ProgramCalls {
  readonly #reaching: ReadonlySet<Node>;
  /** Where each declared name is changed after it was made. */
  readonly changes: ReadonlyMap<unknown, readonly Node[]>;

  constructor(program: Program, names: Names) {
    this.#reaching = reachingNodes(program, names);
    this.changes = changesIn(program, names, this.#reaching);
  }

  /** Whether a piece of the program may call a tool. */
  isIn(piece: Node): boolean {
    return [...this.#reaching].some((node) => isWithin(node, piece));
  }

  /** Whether a piece of the program changes a variable. */
  isChanging(piece: Node): boolean {
    return this.changes.values().some((changes) => changes.some((node) => isWithin(node, piece)));
  }
}

/** Uses of `mcp` and `capabilities`, and of whatever holds or calls them; and code that is a task by itself. */
function reachingNodes(program: Program, names: Names): Set<Node> {
  const reaching = new Set<Node>([...names.free('mcp'), ...names.free('capabilities')]);
  const holders: { readonly id: Node; readonly node: Node }[] = [];
  walk(program, {
    enter(node) {
      const task = node.type === 'CallExpression' ? codeTaskOf(node) : null;
      if (task) reaching.add(task);
      if (node.type === 'FunctionDeclaration' && node.id) holders.push({ id: node.id, node });
      if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier' || !node.init) return;
      const init = bareNode(node.init);
      const isFunction = init.type === 'ArrowFunctionExpression' || init.type === 'FunctionExpression';
      // An alias of a server or a tool; what a call gave reaches nothing.
      if (isFunction || rootOf(init).type === 'Identifier') holders.push({ id: node.id, node: init });
    },
  });
  const isReaching = (node: Node) => [...reaching].some((one) => isWithin(one, node));
  for (let before = -1; before < reaching.size; ) {
    before = reaching.size;
    for (const { id, node } of holders)
      if (isReaching(node)) for (const use of names.usesOf(id)) reaching.add(use);
  }
  return reaching;
}

function isWithin(inner: Node, outer: Node): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/** `list` of `list.rows[0]` */
export function rootOf(node: Node): Node {
  let root = valueNode(node);
  while (root.type === 'MemberExpression') root = valueNode(root.object);
  return root;
}

function changesIn(program: Program, names: Names, reaching: ReadonlySet<Node>): Map<unknown, Node[]> {
  const changes = new Map<unknown, Node[]>();
  const note = (target: Node, by: Node) => {
    const root = rootOf(target);
    // A tool may be called `add`.
    const declaration = root.type === 'Identifier' && !reaching.has(root) ? names.declarationOf(root) : null;
    if (declaration) changes.set(declaration, [...(changes.get(declaration) ?? []), by]);
  };
  walk(program, {
    enter(node) {
      if (node.type === 'AssignmentExpression') {
        if (node.left.type !== 'ObjectPattern' && node.left.type !== 'ArrayPattern') note(node.left, node);
        else
          walk(node.left, {
            enter: (inner) => (inner.type === 'Identifier' ? note(inner, node) : undefined),
          });
      } else if (node.type === 'UpdateExpression') note(node.argument, node);
      else if (node.type === 'UnaryExpression' && node.operator === 'delete') note(node.argument, node);
      else if (node.type === 'CallExpression') {
        const callee = bareNode(node.callee);
        if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
          return;
        const [target] = node.arguments;
        if (CHANGING.has(callee.property.name)) note(callee.object, node);
        // Object.assign(target, …)
        if (callee.property.name === 'assign' && target) note(target, node);
      }
    },
  });
  return changes;
}
