import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

const DEFAULTS = {
  /** Successful runs like what is asked for, each started by somebody: one may be luck, or a mistake. */
  support: 2,
};

export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly default: 'allow' | 'ask' | 'deny';
  /** `careful` turns a default of `allow` into `ask` for every tool not marked read-only. */
  readonly profile: 'standard' | 'careful';
  /** Tools that need not be read-only to be called in runs that PML starts by itself. `decide` does not look at them. */
  readonly auto: readonly string[];
}

export interface Verdict {
  readonly action: 'allow' | 'ask' | 'deny';
  /** Why, as shown to the person who is asked and to the agent that is refused. */
  readonly reason: string;
}

type Subject = Pick<ToolDefinition, 'id' | 'annotations'>;

/**
 * deny > ask > allow. Without a rule, a tool that calls itself destructive asks and the rest follow
 * the default; a tool's own hints can make it stricter, and `readOnlyHint` only under `careful`.
 */
export function decide(rules: PermissionRules, tool: Subject): Verdict {
  for (const action of ['deny', 'ask', 'allow'] as const) {
    // What restricts holds for every spelling, what grants only for its own.
    const matches = action === 'allow' ? matchesGlob : matchesAnyCase;
    const glob = rules[action].find((candidate) => matches(candidate, tool.id));
    if (glob !== undefined) return { action, reason: `permissions.${action} has "${glob}"` };
  }
  if (tool.annotations?.destructiveHint === true && rules.default !== 'deny') {
    return { action: 'ask', reason: 'the tool says of itself that it is destructive' };
  }
  const isCareful = rules.profile === 'careful' && rules.default === 'allow';
  if (isCareful && tool.annotations?.readOnlyHint !== true) {
    return { action: 'ask', reason: 'the careful profile asks for every tool not marked read-only' };
  }
  return { action: rules.default, reason: `permissions.default is "${rules.default}"` };
}

/** Below this confidence no setting lets a plan run by itself. */
export const LEAST_CONFIDENCE = 0.9;

/** A task of a plan, with all that it calls, within capabilities too. */
export interface PlannedStep {
  /** As it is told, `t1 (disk:read)`. */
  readonly name: string;
  readonly calls: readonly { readonly tool: Subject; readonly verdict: Verdict }[];
  /** Why it cannot be told what it calls; absent where it can. */
  readonly problem?: string;
}

export interface PlanInQuestion {
  readonly steps: readonly PlannedStep[];
  /** Calibrated: the F1 that is to be expected of its tools. */
  readonly confidence: number;
  /** Successful past runs like what is asked for, of at least its tools, that PML did not start itself. */
  readonly support: number;
  /** Names of inputs that have no value. */
  readonly missing: readonly string[];
  /** Confidence that is asked for; never less than `LEAST_CONFIDENCE`. */
  readonly runFrom?: number;
}

/**
 * Everything that keeps a plan from running when nobody asked for these very calls; none: it may. What was learned
 * can be wrong however sure it seems, so that what could change anything runs only where the owner named it.
 */
export function whyNotByItself(rules: PermissionRules, plan: PlanInQuestion): string[] {
  if (plan.steps.length === 0) return ['nothing known fits'];
  const { confidence, support, missing, steps } = plan;
  const runFrom = Math.max(LEAST_CONFIDENCE, plan.runFrom ?? 0);
  return [
    // Written so that a confidence of NaN counts as none.
    ...(confidence >= runFrom
      ? []
      : [`its confidence of ${percent(confidence)} is below the ${percent(runFrom)} that are asked for`]),
    ...(support >= DEFAULTS.support
      ? []
      : [`${runs(support)} like it succeeded with these tools, and ${DEFAULTS.support} are asked for`]),
    ...(missing.length === 0
      ? []
      : [`it needs ${missing.map((name) => `"${name}"`).join(', ')}: give them in "arguments"`]),
    ...steps.flatMap((step) => {
      const why = whyNotStep(rules, step);
      return why === null ? [] : [`${step.name} ${why}`];
    }),
  ];
}

/** Why a tool must not be called in a run that PML started by itself, whatever the policy says; null where it may. */
export function whyNotCalled(rules: Pick<PermissionRules, 'auto'>, tool: Subject): string | null {
  if (tool.annotations?.readOnlyHint === true || matchesAny(rules.auto, tool.id)) return null;
  return `${tool.id} is not marked read-only, and permissions.auto does not name it`;
}

function whyNotStep(rules: PermissionRules, { calls, problem }: PlannedStep): string | null {
  if (problem !== undefined) return `cannot run by itself: ${problem}`;
  for (const { tool, verdict } of calls) {
    if (verdict.action === 'deny') return `is not allowed: ${verdict.reason}`;
    if (verdict.action === 'ask') return `would ask a person: ${verdict.reason}`;
    const why = whyNotCalled(rules, tool);
    if (why !== null) return `may change something: ${why}`;
  }
  return null;
}

function runs(support: number): string {
  return support === 0 ? 'no past run' : `only ${support} past run`;
}

/** Rounded down: what falls short of what is asked for must not read as if it did not. */
function percent(share: number): string {
  return `${Math.floor(100 * share + 1e-9)} %`;
}

/**
 * `*` stands for any characters, `?` for one; everything else for itself. The whole text must match. When what
 * follows a `*` does not fit, only the last `*` takes one character more, so that no pattern takes longer than
 * the product of the two lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  return matches([...glob], [...text]);
}

/** The same whether letters are large or small, for what restricts: many servers do not tell them apart either. */
export function matchesAnyCase(glob: string, text: string): boolean {
  return matches(Array.from(glob, folded), Array.from(text, folded));
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}

function matches(wanted: readonly string[], given: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let taken = 0;
  for (let i = 0; i < given.length; ) {
    if (wanted[at] === '*') {
      star = at++;
      taken = i;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[i])) {
      at++;
      i++;
    } else if (star !== -1) {
      at = star + 1;
      i = ++taken;
    } else return false;
  }
  return wanted.slice(at).every((char) => char === '*');
}

/** Both ways: some letters have two small forms, as `s` has in `ſ`. */
function folded(char: string): string {
  return char.toUpperCase().toLowerCase();
}
