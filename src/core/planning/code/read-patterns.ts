import type { Node } from 'oxc-parser';
import { type ScopeTrackerNode, walk } from 'oxc-walker';
import { staticKey } from '../../capabilities/bare-node.ts';
import { type CodeValue, memberOf } from './code-value.ts';
import type { PlanReading } from './plan-reading.ts';

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
