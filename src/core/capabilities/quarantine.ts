import { wilsonLowerBound } from './reliability.ts';

const DEFAULTS = {
  /** Latest runs that are looked at. */
  window: 10,
  /** A success rate that is surely lower is too low. */
  minRate: 0.5,
};

export interface QuarantineFacts {
  /** Outcomes since it was admitted or released, oldest first, without those that say nothing of its code. */
  readonly recent: readonly boolean[];
  /** The definitions its tools had when it was learned, by tool id. */
  readonly definitionHashes?: Readonly<Record<string, string>>;
  /** The definition a tool has now; undefined when it is not there, which its calls will tell. */
  readonly currentHash?: (tool: string) => string | undefined;
}

/**
 * Why a capability must not be called any more; null when it may. It stays in quarantine until a person
 * releases it: code that ran well with other definitions, or that broke, is not trusted by running it again.
 */
export function quarantineReason({
  recent,
  definitionHashes = {},
  currentHash,
}: QuarantineFacts): string | null {
  const changed = Object.entries(definitionHashes).filter(([tool, hash]) => {
    const now = currentHash?.(tool);
    return now !== undefined && now !== hash;
  });
  if (changed.length > 0) {
    const [names, verb] = [changed.map(([tool]) => tool).join(', '), changed.length > 1 ? 'have' : 'has'];
    return `${names} ${verb} another definition than when it was learned`;
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
