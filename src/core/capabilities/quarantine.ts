import { wilsonLowerBound } from './lifecycle.ts';

const DEFAULTS = {
  /** Latest runs that are looked at. */
  window: 10,
  /** A success rate that is surely lower is too low. */
  minRate: 0.5,
  /** Changes of tools that a reason names. */
  words: 5,
};

interface QuarantineFacts {
  /** Outcomes since it was admitted or released, oldest first, without those that say nothing of its code. */
  readonly recent: readonly boolean[];
  /** The definitions its tools had when it was learned, by tool id. */
  readonly definitionHashes?: Readonly<Record<string, string>>;
  /** The definition a tool has now; undefined when it is not there, which its calls will tell. */
  readonly currentHash?: (tool: string) => string | undefined;
  /** What a changed definition breaks, in words; empty where it is not known to break anything. */
  readonly breaks?: (tool: string) => readonly string[];
}

/**
 * Why a capability must not be called any more; null when it may. It stays in quarantine until a person
 * releases it, or everything it rests on is as it was: code that ran well with other definitions, or that broke,
 * is not trusted by running it again.
 */
export function quarantineReason({
  recent,
  definitionHashes = {},
  currentHash,
  breaks = () => [],
}: QuarantineFacts): string | null {
  const changed = Object.entries(definitionHashes).filter(([tool, hash]) => {
    const now = currentHash?.(tool);
    return now !== undefined && now !== hash;
  });
  if (changed.length > 0) {
    const [names, verb] = [changed.map(([tool]) => tool).join(', '), changed.length > 1 ? 'have' : 'has'];
    const words = changed.flatMap(([tool]) => breaks(tool));
    const told = words.length === 0 ? '' : ` (${words.slice(0, DEFAULTS.words).join('; ')})`;
    return `${names} ${verb} a different definition than when it was learned${told}`;
  }
  return failing(recent.slice(-DEFAULTS.window));
}

/**
 * Some run of latest outcomes, of any length within the window, whose success rate is surely (95 %) below the
 * minimum: the Wilson upper bound of the rate, which is 1 - the lower bound of the failure rate. Looking at all
 * lengths finds a tool that broke just now in spite of a good past: four failures in a row are enough, and so
 * are seven in eight.
 */
function failing(recent: readonly boolean[]): string | null {
  let failures = 0;
  for (let runs = 1; runs <= recent.length; runs++) {
    if (!recent.at(-runs)) failures++;
    if (1 - wilsonLowerBound(failures, runs) < DEFAULTS.minRate)
      return `${failures} of its last ${runs} runs failed`;
  }
  return null;
}

/** A change in the answers of a tool, from the view of a capability that uses the tool. */
export interface DriftMark {
  readonly tool: string;
  /** When it was noticed, in milliseconds since 1970. */
  readonly since: number;
  /** What changed, in sentences. */
  readonly words: readonly string[];
  /** `broken`: its program reads what changed; `marked`: it does not; `admitted`: it still works, as runs or a person showed. */
  readonly state: 'broken' | 'marked' | 'admitted';
}

/** Null where no change breaks it. */
export function driftReason(marks: readonly DriftMark[]): string | null {
  const broken = marks.filter(({ state }) => state === 'broken');
  if (broken.length === 0) return null;
  const told = broken.map(({ tool, words }) => `${tool}: ${words.slice(0, DEFAULTS.words).join('; ')}`);
  return `answers changed since it was learned (${told.join('; ')})`;
}

/** Whether a program names one of these fields, or they are the whole answer. */
export function readsField(code: string, fields: readonly string[]): boolean {
  const words = new Set(code.split(/[^\w$-]+/));
  return fields.some((field) => {
    const name = field.slice(field.lastIndexOf('.') + 1).replaceAll('[]', '');
    return name === '' || words.has(name);
  });
}
