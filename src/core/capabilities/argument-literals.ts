import type { Node, Program } from 'oxc-parser';
import { walk } from 'oxc-walker';
import { staticKey, valueNode } from './bare-node.ts';
import { literalValue } from './literal.ts';
import { constantOf, constantValue, type Names } from './names.ts';

const DEFAULTS = {
  /** How many aliases in a row are followed; the text may set them in a circle. */
  maxHops: 32,
};

/** Where a literal goes: `path` of a call, or a place within an argument, `filter.status`, `items[0].id`. */
export interface CallArgument {
  /** `filesystem:read_file`, or `capabilities.<slug>`. */
  readonly tool: string;
  readonly name: string;
}

/**
 * The literals that are arguments of tool and capability calls: directly, inside objects and lists, or by way of
 * a `const`, as far as the text tells.
 */
export function argumentLiterals(program: Program, names: Names): ReadonlyMap<Node, CallArgument> {
  const found = new Map<Node, CallArgument>();
  const marked = new Set<Node>();
  walk(program, {
    enter(node) {
      if (node.type !== 'CallExpression') return;
      const tool = toolOf(pathOf(node.callee));
      const [given] = node.arguments;
      if (tool && given) mark(given, tool, '');
    },
  });
  return found;

  /** `['mcp', 'filesystem', 'read_file']`, whatever aliases lead there; null when only a run can tell. */
  function pathOf(wrapped: Node, hops = 0): readonly string[] | null {
    const node = valueNode(wrapped);
    if (hops > DEFAULTS.maxHops) return null;
    if (node.type === 'Identifier') {
      if (!names.declarationOf(node)) return [node.name];
      const constant = constantOf(node, names);
      const base = constant && pathOf(constant.init, hops + 1);
      return base && [...base, ...constant.path];
    }
    if (node.type !== 'MemberExpression') return null;
    const base = pathOf(node.object, hops + 1);
    const key = base && keyOf(node);
    return base && typeof key === 'string' ? [...base, key] : null;
  }

  function keyOf(member: Node & { type: 'MemberExpression' }): unknown {
    const key = staticKey(member.property, member.computed);
    return key ?? literalValue(constantValue(member.property, names))?.value;
  }

  /** The first call that a value goes to counts; marking each once also keeps shared objects cheap. */
  function mark(given: Node, tool: string, name: string): void {
    const node = constantValue(given, names);
    if (marked.has(node)) return;
    marked.add(node);
    if (literalValue(node)) {
      if (name !== '') found.set(node, { tool, name });
    } else if (node.type === 'ObjectExpression') {
      for (const property of node.properties) {
        if (property.type === 'SpreadElement') mark(property.argument, tool, name);
        else {
          const key = staticKey(property.key, property.computed);
          if (key !== null) mark(property.value, tool, name === '' ? key : `${name}.${key}`);
        }
      }
    } else if (node.type === 'ArrayExpression') {
      node.elements.forEach((element, index) => {
        if (element) mark(element, tool, `${name}[${index}]`);
      });
    }
  }
}

function toolOf(path: readonly string[] | null): string | null {
  if (!path) return null;
  const [root, first, second, ...more] = path;
  if (root === 'capabilities') return first && second === undefined ? `capabilities.${first}` : null;
  return root === 'mcp' && first && second && more.length === 0 ? `${first}:${second}` : null;
}
