import { COMPARISONS, type Condition } from '../../vocabulary/plan.ts';
import type { PlanHelper } from '../plan/conditions.ts';
import { isReference, referenceParts, stepsOf } from '../plan/references.ts';

/** How what a reference begins with is called in code, and which helpers the code came to need. */
export interface Printing {
  /** What `list` of `${list.rows[0]}` is: a variable, and the way from there. */
  placeOf(root: string): readonly [variable: string, ...steps: string[]];
  need(helper: PlanHelper): PlanHelper;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** An argument as an expression: references become names and paths, the rest stays. */
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
