import { COMPARISONS, type Condition } from '../../vocabulary/plan.ts';
import { isReference, referenceParts, stepsOf } from '../plan/references.ts';

/**
 * Functions that code printed from a plan begins with where it needs them: they say in code what plans mean by a
 * text with references in it and by a condition. Code that holds one of them, to the letter, means the same.
 */
export const PLAN_HELPERS = {
  /** Of a reference inside a longer text. */
  text: '(value) => (typeof value === "string" ? value : JSON.stringify(value))',
  /** What lies at a path; undefined where it leads nowhere. */
  at: '(value, ...path) => path.reduce((one, key) => (one !== null && typeof one === "object" && Object.hasOwn(one, key) ? one[key] : undefined), value)',
  isSomething: '(value) => (Array.isArray(value) ? value.length > 0 : Boolean(value))',
  compare: `(left, how, right) => {
  const isSame = (a, b) => a === b || (a !== null && b !== null && typeof a === "object" && typeof b === "object" && Array.isArray(a) === Array.isArray(b) && Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key])));
  const isIn = (item, of) => Array.isArray(of) ? of.some((one) => isSame(one, item)) : typeof of === "string" && typeof item === "string" && of.includes(item);
  const areOrdered = typeof left === typeof right && (typeof left === "number" || typeof left === "string");
  switch (how) {
    case "equals": return isSame(left, right);
    case "not_equals": return !isSame(left, right);
    case "greater_than": return areOrdered && left > right;
    case "at_least": return areOrdered && left >= right;
    case "less_than": return areOrdered && left < right;
    case "at_most": return areOrdered && left <= right;
    case "contains": return isIn(right, left);
    default: return isIn(left, right);
  }
}`,
} as const;

export type PlanHelper = keyof typeof PLAN_HELPERS;

/** How what a reference begins with is called in code, and which helpers the code came to need. */
export interface Printing {
  /** What `list` of `${list.rows[0]}` is: a variable, and the way from there. */
  placeOf(root: string): readonly [variable: string, ...steps: string[]];
  need(helper: PlanHelper): PlanHelper;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** An argument as an expression: references become names and paths, all else stays. */
export function printValue(value: unknown, printing: Printing, path = printPath): string {
  if (typeof value === 'string') return printText(value, printing, path);
  if (Array.isArray(value)) return `[${value.map((item) => printValue(item, printing, path)).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    const fields = Object.entries(value).map(([key, field]) => {
      const printed = printValue(field, printing, path);
      return printed === key && isReference(field) ? key : `${printKey(key)}: ${printed}`;
    });
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
  }
  return JSON.stringify(value);
}

function printText(text: string, printing: Printing, path: typeof printPath): string {
  const parts = referenceParts(text);
  if (parts.every((part) => part.kind === 'text')) return JSON.stringify(text);
  const [only, ...more] = parts;
  if (only?.kind === 'reference' && more.length === 0) return path(only.path, printing);
  const pieces = parts.map((part) =>
    part.kind === 'text'
      ? part.text.replace(/[\\`]|\$(?=\{)/g, '\\$&')
      : `\${${printing.need('text')}(${path(part.path, printing)})}`,
  );
  return `\`${pieces.join('')}\``;
}

/** `list.rows[0]` */
function printPath(path: string, printing: Printing): string {
  const [root = '', ...steps] = stepsOf(path);
  const [variable, ...first] = printing.placeOf(root);
  return variable + [...first, ...steps].map(printMember).join('');
}

/** In a condition a path may lead nowhere. */
function printLoosePath(path: string, printing: Printing): string {
  const [root = '', ...steps] = stepsOf(path);
  const [variable, ...first] = printing.placeOf(root);
  const all = [...first, ...steps].map((step) => JSON.stringify(step));
  return all.length === 0 ? variable : `${printing.need('at')}(${[variable, ...all].join(', ')})`;
}

export function printMember(name: string): string {
  if (IDENTIFIER.test(name)) return `.${name}`;
  return /^(0|[1-9]\d*)$/.test(name) ? `[${name}]` : `[${JSON.stringify(name)}]`;
}

export function printKey(name: string): string {
  // A plain `__proto__` would set the prototype.
  if (name === '__proto__') return '["__proto__"]';
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

export function printCondition(condition: Condition, printing: Printing): string {
  const loose = (value: unknown) => printValue(value, printing, printLoosePath);
  if (typeof condition === 'string') return `${printing.need('isSomething')}(${loose(condition)})`;
  if ('all' in condition) return joined(condition.all, '&&', 'true', printing);
  if ('any' in condition) return joined(condition.any, '||', 'false', printing);
  if ('not' in condition) return `!(${printCondition(condition.not, printing)})`;
  if ('exists' in condition) return `${loose(condition.exists)} !== undefined`;
  const compared = COMPARISONS.filter((how) => Object.hasOwn(condition, how)).map((how) => {
    const right = condition[how];
    const isPlain = right === null || ['number', 'boolean'].includes(typeof right) || isPlainText(right);
    if (isPlain && how === 'equals') return `${loose(condition.value)} === ${JSON.stringify(right)}`;
    if (isPlain && how === 'not_equals') return `${loose(condition.value)} !== ${JSON.stringify(right)}`;
    return `${printing.need('compare')}(${loose(condition.value)}, ${JSON.stringify(how)}, ${loose(right)})`;
  });
  return compared.length === 0 ? 'true' : compared.join(' && ');
}

function joined(all: readonly Condition[], by: string, none: string, printing: Printing): string {
  if (all.length === 0) return none;
  return `(${all.map((one) => printCondition(one, printing)).join(` ${by} `)})`;
}

function isPlainText(value: unknown): boolean {
  return typeof value === 'string' && referenceParts(value).every(({ kind }) => kind === 'text');
}
