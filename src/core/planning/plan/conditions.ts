import { COMPARISONS, type Comparison, type Condition } from '../../vocabulary/plan.ts';
import { found, type Values } from './references.ts';

/** Whether a condition holds for the results of the tasks. A reference to nothing has no value. */
export function holds(condition: Condition, values: Values): boolean {
  if (typeof condition === 'string') return isSomething(found(condition, values));
  if ('all' in condition) return condition.all.every((one) => holds(one, values));
  if ('any' in condition) return condition.any.some((one) => holds(one, values));
  if ('not' in condition) return !holds(condition.not, values);
  if ('exists' in condition) return found(condition.exists, values) !== undefined;
  const left = found(condition.value, values);
  return COMPARISONS.every(
    (how) => !Object.hasOwn(condition, how) || compare(how, left, found(condition[how], values)),
  );
}

function isSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Numbers are compared with numbers and texts with texts; anything else is neither more nor less. */
function compare(how: Comparison, left: unknown, right: unknown): boolean {
  switch (how) {
    case 'equals':
      return isSame(left, right);
    case 'not_equals':
      return !isSame(left, right);
    case 'greater_than':
      return order(left, right) > 0;
    case 'at_least':
      return order(left, right) >= 0;
    case 'less_than':
      return order(left, right) < 0;
    case 'at_most':
      return order(left, right) <= 0;
    case 'contains':
      return isIn(right, left);
    case 'in':
      return isIn(left, right);
  }
}

/** NaN, which is neither more nor less nor the same, where the two have no order. */
function order(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string') return Number.NaN;
  return left === right ? 0 : left < right ? -1 : 1;
}

function isIn(item: unknown, of: unknown): boolean {
  if (Array.isArray(of)) return of.some((one) => isSame(one, item));
  return typeof of === 'string' && typeof item === 'string' && of.includes(item);
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  const keys = Object.keys(left);
  return (
    Array.isArray(left) === Array.isArray(right) &&
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) => Object.hasOwn(right, key) && isSame(left[key as never] as unknown, right[key as never]),
    )
  );
}

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
