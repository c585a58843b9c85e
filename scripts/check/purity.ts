import type { Node } from 'oxc-parser';
import type { Problem } from './problem.ts';
import { childrenOf, lineAt, literalText, type ParsedFile, walk } from './source-file.ts';

const CLOCK = 'take the time as an argument';
const RANDOM = 'take a seeded random source as an argument';
const WAITING = 'only the engine may wait';
const OUTSIDE = 'reach the outside through a port of the engine';

/** Names that refer to the outside world. Core does not use them for its own variables either. */
const GLOBALS: ReadonlyMap<string, string> = new Map([
  ['performance', CLOCK],
  ['setTimeout', WAITING],
  ['setInterval', WAITING],
  ['setImmediate', WAITING],
  ['process', OUTSIDE],
  ['console', OUTSIDE],
  ['fetch', OUTSIDE],
  ['require', OUTSIDE],
  ['Worker', OUTSIDE],
  ['WebSocket', OUTSIDE],
]);

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['Date.now', CLOCK],
  ['Math.random', RANDOM],
  ['crypto.randomUUID', RANDOM],
  ['crypto.getRandomValues', RANDOM],
]);

/** Core is pure: no I/O, no clock, no randomness. Types may name anything. */
export function impurities(file: ParsedFile): Problem[] {
  const found: Problem[] = [];
  const report = (node: Node, name: string, instead: string) => {
    const line = lineAt(file.text, node.start);
    found.push({ file: file.path, line, message: `uses ${name}: core is pure; ${instead}` });
  };
  const check = (node: Node, name: string) => {
    const bare = name.replace(/^globalThis\./, '');
    const instead = MEMBERS.get(bare) ?? GLOBALS.get(bare);
    if (instead) report(node, bare, instead);
  };
  const visit = (node: Node): boolean => {
    if (node.type === 'Identifier') check(node, node.name);
    if (node.type === 'MemberExpression') check(node, dottedName(node) ?? '');
    if (isPresentDate(node)) report(node, 'the present date', CLOCK);
    for (const name of takenApart(node)) check(node, name);
    for (const child of valueChildren(node)) walk(child, visit);
    return false;
  };
  walk(file.program, visit);
  return found;
}

/** `a.b` or `a['b']` as `a.b`; undefined if a part is computed. */
function dottedName(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression') return undefined;
  const { object, property } = node;
  const last = !node.computed && property.type === 'Identifier' ? property.name : literalText(property);
  const before = dottedName(object);
  return last === undefined || before === undefined ? undefined : `${before}.${last}`;
}

/** `new Date()` reads the clock, `new Date(x)` does not; `Date(x)` always does. */
function isPresentDate(node: Node): boolean {
  if (node.type === 'NewExpression') return dottedName(node.callee) === 'Date' && node.arguments.length === 0;
  return node.type === 'CallExpression' && dottedName(node.callee) === 'Date';
}

/** `const { random } = Math` reads `Math.random`. */
function takenApart(node: Node): string[] {
  if (node.type !== 'VariableDeclarator' || node.id.type !== 'ObjectPattern' || !node.init) return [];
  const from = dottedName(node.init);
  return node.id.properties.flatMap((property) =>
    property.type === 'Property' && property.key.type === 'Identifier' ? `${from}.${property.key.name}` : [],
  );
}

/** Children that are evaluated: neither types nor plain property names. */
function valueChildren(node: Node): Node[] {
  if ('expression' in node && node.type.startsWith('TS')) return [node.expression as Node];
  const children = childrenOf(node).filter((child) => !isTypeOnly(child));
  if ('computed' in node && !node.computed) {
    const name = 'property' in node ? node.property : 'key' in node ? node.key : undefined;
    return children.filter((child) => child !== name);
  }
  return children;
}

/** TypeScript's nodes are types, except for wrappers of an expression (`x as T`, `x!`, `x satisfies T`). */
function isTypeOnly(node: Node): boolean {
  return node.type.startsWith('TS') && !('expression' in node);
}
