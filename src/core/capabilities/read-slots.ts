import { isJsonObject } from './json-object.ts';
import type { LearnedSlot } from './learned-slots.ts';
import { isParameterName } from './parameter-name.ts';
import type { LiteralSlot, Template } from './template.ts';

const DEFAULTS = {
  /** Values remembered for one literal. */
  maxSeen: 20,
};

type ReadSlots =
  | { readonly ok: true; readonly slots: LearnedSlot[] }
  | { readonly ok: false; readonly problems: string[] };

/**
 * What was learned about a program's literals, read from outside. Where a literal stands and what it is comes
 * from the program; only names and values seen are taken over.
 */
export function readSlots({ slots, used }: Template, given: readonly unknown[]): ReadSlots {
  const problems: string[] = [];
  if (given.length !== slots.length)
    problems.push(`"slots" lists ${given.length} literals, and the program has ${slots.length}`);
  const taken = new Set(used.named.map(({ name }) => name));
  const learned = slots.map((slot, index): LearnedSlot => {
    const { parameter = null, differs = false, seen = [] } = asObject(given[index]);
    const problem = problemOf(slot, { parameter, differs, seen }, taken);
    if (problem) problems.push(`"slots[${index}]" ${problem}`);
    if (typeof parameter === 'string') taken.add(parameter);
    return { ...slot, parameter, differs, seen } as LearnedSlot;
  });
  return problems.length > 0 ? { ok: false, problems: problems.slice(0, 10) } : { ok: true, slots: learned };
}

interface Learned {
  readonly parameter: unknown;
  readonly differs: unknown;
  readonly seen: unknown;
}

function problemOf(slot: LiteralSlot, { parameter, differs, seen }: Learned, taken: ReadonlySet<string>) {
  if (parameter !== null) {
    if (typeof parameter !== 'string' || !isParameterName(parameter)) return 'has no name for its parameter';
    if (taken.has(parameter)) return `has the name ${parameter} of another parameter`;
    if (slot.isFixed) return 'cannot become a parameter';
  }
  if (typeof differs !== 'boolean') return 'does not say whether it differs';
  if (!Array.isArray(seen) || seen.length > DEFAULTS.maxSeen) return 'has no list of values';
  return seen.every((value) => isLike(value, slot.value)) ? null : 'has values of another kind';
}

function isLike(value: unknown, model: unknown): boolean {
  if (!Array.isArray(model)) return value === null ? model === null : typeof value === typeof model;
  return Array.isArray(value) && value.every((item) => typeof item === typeof model[0]);
}

function asObject(value: unknown): Partial<Record<keyof Learned, unknown>> {
  return isJsonObject(value) ? value : {};
}
