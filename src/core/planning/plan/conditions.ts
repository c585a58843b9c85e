import { COMPARISONS, type Comparison, type Condition } from '../../vocabulary/plan.ts';
import { resolveReferences } from './references.ts';

type Values = Readonly<Record<string, unknown>>;

/** Whether a condition holds for what the tasks gave. A reference that leads nowhere gives nothing. */
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

function found(value: unknown, values: Values): unknown {
  try {
    return resolveReferences(value, values);
  } catch {
    return undefined;
  }
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

/** NaN, which is neither more nor less nor the same, where there is no order. */
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
