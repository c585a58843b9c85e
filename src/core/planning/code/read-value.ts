import type { Node } from 'oxc-parser';
import type { ScopeTrackerNode } from 'oxc-walker';
import { bareNode, staticKey } from '../../capabilities/bare-node.ts';
import { literalValue } from '../../capabilities/literal.ts';
import type { Names } from '../../capabilities/names.ts';
import { COMPARISONS, type Condition } from '../../vocabulary/plan.ts';
import type { PlanHelper } from '../plan/conditions.ts';
import { referencedTasks } from '../plan/references.ts';

/** The meaning of an expression, as far as a plan can express it. */
export type CodeValue =
  /** `undefined` as a value is the same as no argument. */
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
  /** Of a task's result, an input, or `item` and `index` of a loop. */
  | { readonly kind: 'reference'; readonly root: string; readonly steps: readonly string[] }
  /** A text with references in it, as plans write it. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, CodeValue> }
  | { readonly kind: 'list'; readonly items: readonly CodeValue[] }
  /** `args` of the program, with what holds for those that are not given, and the names there are, if known. */
  | {
      readonly kind: 'inputs';
      readonly defaults: Readonly<Record<string, unknown>>;
      readonly names: ReadonlySet<string> | null;
    }
  /** `mcp`, `mcp.server`, `capabilities`, … */
  | { readonly kind: 'api'; readonly path: readonly string[] };

const PLAIN_STEP = /^[^.[\]"'{}\s]+$/u;

const INDEX = /^(0|[1-9]\d*)$/;

/** `${t1.items[0]["odd name"]}`; null for names that references cannot spell. */
function referenceText(root: string, steps: readonly string[]): string | null {
  let path = root;
  for (const step of steps) {
    if (INDEX.test(step)) path += `[${step}]`;
    else if (PLAIN_STEP.test(step)) path += `.${step}`;
    else if (step !== '' && !/["{}]/.test(step)) path += `["${step}"]`;
    else return null;
  }
  return `\${${path}}`;
}

/** A value as an argument of a plan; undefined if it cannot be one. */
export function toArgument(value: CodeValue): unknown {
  switch (value.kind) {
    case 'literal':
      return value.value;
    case 'text':
      return value.text;
    case 'reference':
      return referenceText(value.root, value.steps) ?? undefined;
    case 'list':
      // As in JSON: a place in a list cannot be left out.
      return value.items.map((item) => toArgument(item) ?? null);
    case 'object': {
      const fields = [...value.fields].map(([name, field]) => [name, toArgument(field)] as const);
      return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
    }
    default:
      return undefined;
  }
}

/** The value under a name in it; null if it is known only at run time. */
export function memberOf(value: CodeValue, name: string): CodeValue | null {
  switch (value.kind) {
    case 'api':
      return { kind: 'api', path: [...value.path, name] };
    case 'inputs':
      if (value.names && !value.names.has(name)) return { kind: 'literal', value: undefined };
      return referenceText(name, []) && PLAIN_STEP.test(name)
        ? { kind: 'reference', root: name, steps: [] }
        : null;
    case 'reference': {
      // A text has a length too, and no reference leads into a text.
      const steps = [...value.steps, name];
      return name === 'length' || referenceText(value.root, steps) === null ? null : { ...value, steps };
    }
    case 'object':
      return value.fields.get(name) ?? null;
    case 'list':
      return value.items[Number(name)] ?? null;
    default:
      return null;
  }
}

/** What is known about a program's variables at the current place. */
export interface Known {
  readonly names: Names;
  /** Names of the program's inputs; null where nobody knows yet. */
  readonly given: ReadonlySet<string> | null;
  readonly values: ReadonlyMap<ScopeTrackerNode, CodeValue>;
  readonly helpers: ReadonlyMap<ScopeTrackerNode, PlanHelper>;
  /** Calls that have become tasks, by their node. */
  readonly made: ReadonlyMap<Node, CodeValue>;
}

const NOTHING: CodeValue = { kind: 'literal', value: undefined };

/** What an expression is in a plan; null where only code can say it. */
export function readValue(known: Known, wrapped: Node): CodeValue | null {
  const node = bareNode(wrapped);
  const made = known.made.get(node);
  if (made) return made;
  switch (node.type) {
    case 'Identifier':
      return readName(known, node);
    case 'AwaitExpression':
      return readValue(known, node.argument);
    case 'MemberExpression':
      return readMember(known, node);
    case 'ObjectExpression':
      return readObject(known, node);
    case 'ArrayExpression': {
      const items = node.elements.map((item) => (item ? readValue(known, item) : null));
      return items.every((item) => item !== null) ? { kind: 'list', items } : null;
    }
    case 'CallExpression': {
      const [list] = node.arguments;
      return isPromiseAll(known, node) && list ? readValue(known, list) : null;
    }
    case 'TemplateLiteral':
      if (node.expressions.length > 0) return readTemplate(known, node);
      break;
  }
  const literal = literalValue(node);
  if (!literal || literal.kind === 'bigint' || literal.kind === 'list') return null;
  const value = literal.value as string | number | boolean | null;
  // In a plan it would be taken for a reference.
  return referencedTasks(value).length > 0 ? null : { kind: 'literal', value };
}

function readName({ names, values, given }: Known, node: Node & { type: 'Identifier' }): CodeValue | null {
  const declaration = names.declarationOf(node);
  if (declaration) return values.get(declaration) ?? null;
  if (node.name === 'undefined') return NOTHING;
  if (node.name === 'args') return { kind: 'inputs', defaults: {}, names: given };
  return node.name === 'mcp' || node.name === 'capabilities' ? { kind: 'api', path: [node.name] } : null;
}

function readMember(known: Known, node: Node & { type: 'MemberExpression' }): CodeValue | null {
  if (node.optional) return null;
  const object = readValue(known, node.object);
  if (!object) return null;
  const key = staticKey(node.property, node.computed);
  if (key !== null) return memberOf(object, key);
  const chosen = readValue(known, node.property);
  if (chosen?.kind !== 'literal') return null;
  return typeof chosen.value === 'string' || typeof chosen.value === 'number'
    ? memberOf(object, String(chosen.value))
    : null;
}

function readObject(known: Known, node: Node & { type: 'ObjectExpression' }): CodeValue | null {
  const fields = new Map<string, CodeValue>();
  for (const [i, property] of node.properties.entries()) {
    if (property.type === 'SpreadElement') {
      const spread = readValue(known, property.argument);
      if (spread?.kind === 'inputs' && i === node.properties.length - 1)
        return inputsOver(fields, spread.names);
      if (spread?.kind !== 'object') return null;
      for (const [name, value] of spread.fields) fields.set(name, value);
      continue;
    }
    const key = staticKey(property.key, property.computed);
    const value = property.kind === 'init' && !property.method ? readValue(known, property.value) : null;
    if (key === null || !value || value.kind === 'api' || value.kind === 'inputs') return null;
    fields.set(key, value);
  }
  return { kind: 'object', fields };
}

/** `{ path: "notes", ...args }` */
function inputsOver(
  fields: ReadonlyMap<string, CodeValue>,
  given: ReadonlySet<string> | null,
): CodeValue | null {
  const defaults = toArgument({ kind: 'object', fields }) as Record<string, unknown>;
  const names = given && new Set([...given, ...Object.keys(defaults)]);
  return referencedTasks(defaults).length > 0 ? null : { kind: 'inputs', defaults, names };
}

/** Only what is put in as a plan would: anything else is told as JavaScript does it. */
function readTemplate(known: Known, node: Node & { type: 'TemplateLiteral' }): CodeValue | null {
  let text = '';
  for (const [i, quasi] of node.quasis.entries()) {
    const cooked = quasi.value.cooked;
    if (cooked === null || referencedTasks(cooked).length > 0) return null;
    text += cooked;
    const expression = node.expressions[i];
    if (!expression) continue;
    const [value] = helperCall(known, expression, 'text') ?? [];
    const read = value && readValue(known, value);
    if (read?.kind !== 'reference') return null;
    text += toArgument(read);
  }
  return { kind: 'text', text };
}

export function isPromiseAll({ names }: Known, node: Node & { type: 'CallExpression' }): boolean {
  const callee = bareNode(node.callee);
  if (callee.type !== 'MemberExpression' || staticKey(callee.property, callee.computed) !== 'all')
    return false;
  const object = bareNode(callee.object);
  return object.type === 'Identifier' && object.name === 'Promise' && !names.declarationOf(object);
}

/** The arguments of a call of a helper of plans. */
function helperCall({ names, helpers }: Known, wrapped: Node, helper: PlanHelper): readonly Node[] | null {
  const node = bareNode(wrapped);
  if (node.type !== 'CallExpression') return null;
  const callee = bareNode(node.callee);
  const declaration = callee.type === 'Identifier' ? names.declarationOf(callee) : null;
  return declaration && helpers.get(declaration) === helper ? node.arguments : null;
}

/** A condition that holds whenever the expression does; null where only code can say it. */
export function readCondition(known: Known, wrapped: Node): Condition | null {
  const node = bareNode(wrapped);
  if (node.type === 'Literal' && typeof node.value === 'boolean')
    return node.value ? { all: [] } : { any: [] };
  if (node.type === 'UnaryExpression' && node.operator === '!') {
    const inner = readCondition(known, node.argument);
    return inner === null ? null : { not: inner };
  }
  if (node.type === 'LogicalExpression' && node.operator !== '??') {
    const sides = [readCondition(known, node.left), readCondition(known, node.right)];
    if (!sides.every((side) => side !== null)) return null;
    const key = node.operator === '&&' ? 'all' : 'any';
    const flat = sides.flatMap((side) =>
      typeof side === 'object' && key in side ? side[key as never] : [side],
    );
    return (key === 'all' ? { all: flat } : { any: flat }) as Condition;
  }
  if (node.type === 'BinaryExpression') return readEquality(known, node);
  const [something] = helperCall(known, node, 'isSomething') ?? [];
  if (something) {
    const value = readLoosely(known, something);
    return typeof value === 'string' ? value : null;
  }
  const compared = helperCall(known, node, 'compare');
  return compared ? readComparison(known, compared) : null;
}

function readComparison(known: Known, [left, how, right]: readonly Node[]): Condition | null {
  const told = how && readValue(known, how);
  const comparison = COMPARISONS.find((one) => told?.kind === 'literal' && told.value === one);
  const value = left && readLoosely(known, left);
  const other = right && readLoosely(known, right);
  if (!comparison || value === undefined || other === undefined) return null;
  return { value, [comparison]: other };
}

/** Equality with plain values means the same in code and in plans; greater and less do not. */
function readEquality(known: Known, node: Node & { type: 'BinaryExpression' }): Condition | null {
  if (node.operator !== '===' && node.operator !== '!==') return null;
  const left = readLoosely(known, node.left);
  const right = readValue(known, node.right);
  if (left === undefined || right?.kind !== 'literal') return null;
  const isEqual = node.operator === '===';
  if (right.value !== undefined) return { value: left, [isEqual ? 'equals' : 'not_equals']: right.value };
  if (typeof left !== 'string') return null;
  return isEqual ? { not: { exists: left } } : { exists: left };
}

/** As an argument of a condition, in which paths may lead nowhere; undefined where only code can say it. */
function readLoosely(known: Known, wrapped: Node): unknown {
  const [object, ...path] = helperCall(known, wrapped, 'at') ?? [];
  if (!object) return toArgumentOrNone(readValue(known, wrapped));
  let value = readValue(known, object);
  for (const step of path) {
    const name = readValue(known, step);
    value = value && name?.kind === 'literal' ? memberOf(value, String(name.value)) : null;
  }
  return toArgumentOrNone(value);
}

function toArgumentOrNone(value: CodeValue | null): unknown {
  return value === null ? undefined : toArgument(value);
}
