import type { Node, Program } from 'oxc-parser';
import { walk } from 'oxc-walker';
import { bareNode, staticKey, valueNode } from './bare-node.ts';
import { literalValue } from './literal.ts';
import { constantOf, type Names } from './names.ts';

const DEFAULTS = {
  /** How many constants in a row are followed; the text may set them in a circle. */
  maxHops: 32,
};

/** Where a literal goes: `path` of a call, or a place within an argument, `filter.status`, `items[0].id`. */
export interface CallArgument {
  /** `filesystem:read_file`, or `capabilities.<slug>`. */
  readonly tool: string;
  readonly name: string;
}

/**
 * Follows literals as far as the text tells: which ones are arguments of tool and capability calls (directly,
 * inside objects and lists, by way of a `const`), and which ones name the tool to call.
 */
export function followLiterals(program: Program, names: Names) {
  const argumentOf = new Map<Node, CallArgument>();
  const naming = new Set<Node>();
  const marked = new Set<Node>();
  walk(program, {
    enter(node) {
      if (node.type !== 'CallExpression') return;
      const tool = toolOf(pathOf(node.callee));
      const [given] = node.arguments;
      if (tool && given) mark(given, tool, '');
    },
  });
  return { argumentOf, naming };

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
    const key = base && isOfTools(base) ? keyOf(node) : null;
    return key === null || !base ? null : [...base, key];
  }

  function keyOf(member: Node & { type: 'MemberExpression' }): string | null {
    const key = staticKey(member.property, member.computed);
    if (key !== null) return key;
    const source = settledValue(member.property);
    const value = literalValue(source)?.value;
    if (typeof value !== 'string') return null;
    naming.add(source);
    return value;
  }

  /** What a `const`, or a property of a `const` object, was set to; else the node itself. */
  function settledValue(wrapped: Node, hops = 0): Node {
    const node = bareNode(wrapped);
    if (hops > DEFAULTS.maxHops) return node;
    if (node.type === 'Identifier') {
      const constant = constantOf(node, names);
      if (!constant) return node;
      let value: Node | null = settledValue(constant.init, hops + 1);
      for (const key of constant.path) value = value && propertyOf(value, key, hops + 1);
      return value ?? node;
    }
    if (node.type !== 'MemberExpression') return node;
    const key = staticKey(node.property, node.computed);
    return (key !== null && propertyOf(settledValue(node.object, hops + 1), key, hops + 1)) || node;
  }

  function propertyOf(object: Node, key: string, hops: number): Node | null {
    if (object.type !== 'ObjectExpression') return null;
    const property = object.properties.findLast(
      (one) => one.type === 'Property' && staticKey(one.key, one.computed) === key,
    );
    return property?.type === 'Property' ? settledValue(property.value, hops) : null;
  }

  /** The first call that a value goes to counts; marking each once also keeps shared objects cheap. */
  function mark(given: Node, tool: string, name: string): void {
    const node = settledValue(given);
    if (marked.has(node)) return;
    marked.add(node);
    if (literalValue(node)) {
      if (name !== '') argumentOf.set(node, { tool, name });
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

function isOfTools([root]: readonly string[]): boolean {
  return root === 'mcp' || root === 'capabilities';
}

function toolOf(path: readonly string[] | null): string | null {
  if (!path) return null;
  const [root, first, second, ...more] = path;
  if (root === 'capabilities') return first && second === undefined ? `capabilities.${first}` : null;
  return root === 'mcp' && first && second && more.length === 0 ? `${first}:${second}` : null;
}
