import { PmlError } from '../vocabulary/pml-error.ts';
import { parameterName } from './parameter-name.ts';
import type { LiteralSlot, Template } from './template.ts';

const DEFAULTS = {
  /** Other values kept for a slot, as examples. */
  maxSeen: 5,
};

/** A literal of a capability's program and what its runs have taught about it. Plain data: it is stored. */
export interface LearnedSlot extends LiteralSlot {
  /** `args.<parameter>` stands in its place; null while it is part of the code. Never renamed. */
  readonly parameter: string | null;
  /** Runs held other values here than the first one. */
  readonly differs: boolean;
  /** Those values, first seen first, a few of them. */
  readonly seen: readonly LiteralSlot['value'][];
}

/** After the first run: literals in arguments of calls are parameters. */
export function learnSlots({ slots, used }: Template): LearnedSlot[] {
  return nameParameters(
    slots.map((slot) => ({ ...slot, parameter: null, differs: false, seen: [] })),
    used.named.map(({ name }) => name),
    (slot) => slot.argument !== undefined,
  );
}

/** After another run of the same program: literals that differ become parameters too. */
export function mergeObservation(learned: readonly LearnedSlot[], run: Template): LearnedSlot[] {
  const merged = learned.map((slot, index): LearnedSlot => {
    const other = run.slots[index];
    if (other?.kind !== slot.kind || run.slots.length !== learned.length) {
      throw new PmlError('internal', `Literal ${index} is no literal of the other program: they differ`);
    }
    const isNew = ![slot.value, ...slot.seen].some((value) => isSame(value, other.value));
    const seen = isNew && slot.seen.length < DEFAULTS.maxSeen ? [...slot.seen, other.value] : slot.seen;
    return { ...slot, seen, differs: slot.differs || isNew };
  });
  const named = run.used.named.map(({ name }) => name);
  return nameParameters(merged, named, (slot) => slot.differs);
}

/** Names that are given stay; new ones keep out of their way. */
function nameParameters(
  slots: readonly LearnedSlot[],
  usedNames: readonly string[],
  isParameter: (slot: LearnedSlot) => boolean,
): LearnedSlot[] {
  const taken = new Set(usedNames);
  for (const { parameter } of slots) if (parameter !== null) taken.add(parameter);
  return slots.map((slot) => {
    if (slot.parameter !== null || slot.isFixed || !isParameter(slot)) return slot;
    const parameter = parameterName(slot, taken);
    taken.add(parameter);
    return { ...slot, parameter };
  });
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
