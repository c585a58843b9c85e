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
