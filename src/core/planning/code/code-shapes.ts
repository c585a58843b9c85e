import type { Node } from 'oxc-parser';
import { type ScopeTrackerNode, walk } from 'oxc-walker';
import { bareNode, staticKey } from '../../capabilities/bare-node.ts';
import type { PlanReading } from './plan-reading.ts';
import { type CodeValue, memberOf, toArgument } from './read-value.ts';

export interface LoopBody {
  /** One item, and its place. */
  readonly params: readonly Node[];
  /** What is done with it, as it stands. */
  readonly body: Node;
  /** The expression that is the whole of it, else the body. */
  readonly call: Node;
}

/** `list.map(async (item) => …)` */
export function mappingOf(node: Node): { list: Node; each: LoopBody } | null {
  if (node.type !== 'CallExpression' || node.arguments.length !== 1) return null;
  const callee = bareNode(node.callee);
  const each = bareNode(node.arguments[0]!);
  if (callee.type !== 'MemberExpression' || staticKey(callee.property, callee.computed) !== 'map')
    return null;
  const isFunction = each.type === 'ArrowFunctionExpression' || each.type === 'FunctionExpression';
  if (!isFunction || each.params.length > 2 || !each.body) return null;
  const { body } = each;
  const [only, ...more] = body.type === 'BlockStatement' ? body.body : [];
  const returned = only?.type === 'ReturnStatement' && more.length === 0 ? only.argument : null;
  return { list: callee.object, each: { params: each.params, body, call: returned ?? body } };
}

/** The arguments of a call as a plan has them; null where code has to work one of them out. */
export function plainArguments(
  reading: PlanReading,
  node: Node & { type: 'CallExpression' },
): Record<string, unknown> | null {
  const [given] = node.arguments;
  if (!given) return {};
  const value = reading.valueOf(given);
  if (value?.kind === 'literal' && value.value === undefined) return {};
  return value?.kind === 'object' ? (toArgument(value) as Record<string, unknown>) : null;
}

/** In the order in which they are evaluated. */
export function childrenOf(node: Node): Node[] {
  const children = Object.values(node).flat() as unknown[];
  return children
    .filter(
      (child): child is Node =>
        typeof child === 'object' && child !== null && 'type' in child && 'start' in child,
    )
    .sort((a, b) => a.start - b.start);
}

interface Part {
  readonly name: string;
  readonly pattern: Node;
}

/** Sets the names of a pattern; false where it does more than take a value apart. */
export function bindPattern(reading: PlanReading, pattern: Node, value: CodeValue): boolean {
  if (pattern.type === 'Identifier') {
    const declaration = reading.names.declarationOf(pattern);
    if (declaration) reading.values.set(declaration, value);
    return declaration !== null;
  }
  const members = partsOf(pattern)?.map((part) => ({ ...part, value: memberOf(value, part.name) }));
  if (!members?.every((part) => part.value !== null)) return false;
  return members.every((part) => bindPattern(reading, part.pattern, part.value!));
}

/** `{ a, b: c }` and `[a, b]`; null for defaults and rests. */
function partsOf(pattern: Node): Part[] | null {
  if (pattern.type === 'ArrayPattern') {
    const parts = pattern.elements.flatMap((element, i) =>
      element ? [{ name: String(i), pattern: element as Node }] : [],
    );
    return parts.every(({ pattern: { type } }) => isPlain(type)) ? parts : null;
  }
  if (pattern.type !== 'ObjectPattern') return null;
  const parts: Part[] = [];
  for (const property of pattern.properties) {
    const name = property.type === 'Property' ? staticKey(property.key, property.computed) : null;
    if (property.type !== 'Property' || name === null || !isPlain(property.value.type)) return null;
    parts.push({ name, pattern: property.value });
  }
  return parts;
}

function isPlain(type: string): boolean {
  return type === 'Identifier' || type === 'ObjectPattern' || type === 'ArrayPattern';
}

/** The names that patterns make. */
export function declaredIn(reading: PlanReading, patterns: readonly Node[]): Set<ScopeTrackerNode> {
  const declared = new Set<ScopeTrackerNode>();
  for (const pattern of patterns) {
    walk(pattern, {
      enter(node) {
        const declaration = node.type === 'Identifier' ? reading.names.declarationOf(node) : null;
        const { start, end } = (declaration?.node ?? { start: -1, end: -1 }) as Node;
        if (declaration && start <= node.start && end >= node.end) declared.add(declaration);
      },
    });
  }
  return declared;
}
