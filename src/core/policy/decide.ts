import { splitToolId } from '../vocabulary/ids.ts';
import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

const DEFAULTS = {
  /** Successful similar runs, each started by a person or agent: a single one may be luck, or a mistake. */
  support: 2,
  /** Characters and words of a tool's name that are looked at. */
  nameLength: 256,
  words: 32,
};

export const PROFILES = ['open', 'balanced', 'careful'] as const;

export type Profile = (typeof PROFILES)[number];

export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly default: 'allow' | 'ask' | 'deny';
  /** What tools without a rule do where the default is `allow`; the table is in docs/configure.md. */
  readonly profile: Profile;
  /** Tools that runs started by PML itself may call without a read-only mark. `decide` does not read this. */
  readonly auto: readonly string[];
}

export interface Verdict {
  readonly action: 'allow' | 'ask' | 'deny';
  /** Shown to the person who is asked and to the agent that is refused. */
  readonly reason: string;
}

type Subject = Pick<ToolDefinition, 'id' | 'annotations'>;

/**
 * deny > ask > allow. Without a rule the profile and the default decide; a tool's own hints only make it stricter,
 * except for `readOnlyHint` under `careful`.
 */
export function decide(
  rules: PermissionRules,
  tool: Subject,
  /** Its server is a program on this machine. */
  isLocal = false,
): Verdict {
  for (const action of ['deny', 'ask', 'allow'] as const) {
    // A rule that restricts applies to every spelling; a rule that grants, only to its own.
    const matches = action === 'allow' ? matchesGlob : matchesAnyCase;
    const glob = rules[action].find((candidate) => matches(candidate, tool.id));
    if (glob !== undefined) return { action, reason: `permissions.${action} has "${glob}"` };
  }
  if (rules.default === 'allow') {
    const reason = whyAsk(rules.profile, tool, isLocal);
    if (reason !== null) return { action: 'ask', reason };
  }
  return { action: rules.default, reason: `permissions.default is "${rules.default}"` };
}

/** Null: the profile lets it run. */
function whyAsk(profile: Profile, tool: Subject, isLocal: boolean): string | null {
  if (profile === 'open' || tool.annotations?.readOnlyHint === true) return null;
  if (profile === 'careful') return 'the careful profile asks for every tool not marked read-only';
  if (tool.annotations?.destructiveHint !== true || canBeUndone(tool, isLocal)) return null;
  return 'its server marks the tool as destructive';
}

/**
 * Many servers mark every tool that is not a plain read as destructive. The mark counts, unless the tool only looks at
 * something, moves about in a browser, or changes what lies on this machine. What is not known to be one of these asks.
 */
function canBeUndone({ id, annotations }: Subject, isLocal: boolean): boolean {
  const { server, tool } = splitToolId(id);
  const words = wordsOf(tool);
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  if (words.some((word) => BROWSERS.has(word))) return !has(BEYOND_THE_PAGE);
  if (has(GRAVE)) return false;
  // A server that is reached over the network is never local, whatever it says.
  if (isLocal && annotations?.openWorldHint === false) return true;
  if (has(CHANGES)) return false;
  const prefix = new Set([...wordsOf(server), ...METHODS]);
  const own = words.slice(words.findIndex((word) => !prefix.has(word)));
  // `excel_read_sheet` of a server with another name; `mailing_list` does not list anything.
  return LOOKS.has(own[0] ?? '') || (own.length > 2 && LOOKS.has(own[1] ?? ''));
}

/** `readFile`, `read-file` and `read_file` have the same words. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, DEFAULTS.nameLength)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .slice(0, DEFAULTS.words);
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Nobody can take it back, or nobody knows what it will do. */
const GRAVE = setOf(
  'drop truncate wipe purge destroy erase format send email sms publish deploy release pay payment payout transfer ' +
    'withdraw refund charge buy purchase order invoice trade shutdown reboot terminate kill revoke uninstall install ' +
    'execute exec run shell command sudo eval script sql unsafe force',
);
const CHANGES = setOf(
  'delete remove update set write create add insert edit put patch modify replace move rename copy upload share invite ' +
    'close cancel archive merge push reset clear save assign approve reject block ban mark toggle enable disable ' +
    'start stop import submit book reply comment vote follow subscribe unsubscribe checkout commit upsert sync rotate',
);
const LOOKS = setOf(
  'get list read search find fetch view show describe retrieve lookup look browse count query inspect preview summarize ' +
    'check validate verify compare diff screenshot snapshot capture hover scroll navigate',
);
/** Of requests, as tools that are made from an API description are called. */
const METHODS = setOf('api post');
/** In a browser the mark is put on every step: pages say what may be undone, not tools. */
const BROWSERS = setOf('browser playwright puppeteer');
const BEYOND_THE_PAGE = setOf(
  'file files upload download code script unsafe install cookie cookies storage pdf',
);

/** Below this confidence no plan runs by itself, whatever the settings. */
export const LEAST_CONFIDENCE = 0.9;

/** A task of a plan with all its calls, including those within capabilities. */
export interface PlannedStep {
  /** As shown to people: `t1 (disk:read)`. */
  readonly name: string;
  readonly calls: readonly { readonly tool: Subject; readonly verdict: Verdict }[];
  /** Why the calls cannot be known before the run; absent if they are known. */
  readonly problem?: string;
}

export interface PlanInQuestion {
  readonly steps: readonly PlannedStep[];
  /** Calibrated: the expected F1 of the plan's tools. */
  readonly confidence: number;
  /** Successful similar runs that used at least the plan's tools and that PML did not start itself. */
  readonly support: number;
  /** Names of inputs that have no value. */
  readonly missing: readonly string[];
  /** Required confidence; never less than `LEAST_CONFIDENCE`. */
  readonly runFrom?: number;
}

/**
 * All reasons why a plan must not run without a person's or agent's explicit request; if empty, it may run. Learned
 * predictions can be wrong however confident they are, so a tool that may change something must be named by the owner.
 */
export function whyNotByItself(rules: PermissionRules, plan: PlanInQuestion): string[] {
  if (plan.steps.length === 0) return ['no known tool fits'];
  const { confidence, support, missing, steps } = plan;
  const runFrom = Math.max(LEAST_CONFIDENCE, plan.runFrom ?? 0);
  return [
    // Written so that NaN counts as too low.
    ...(confidence >= runFrom
      ? []
      : [`its confidence of ${percent(confidence)} is below the required ${percent(runFrom)}`]),
    ...(support >= DEFAULTS.support
      ? []
      : [`${runs(support)} like it succeeded with these tools; ${DEFAULTS.support} are required`]),
    ...(missing.length === 0
      ? []
      : [`it needs ${missing.map((name) => `"${name}"`).join(', ')}: give them in "arguments"`]),
    ...steps.flatMap((step) => {
      const why = whyNotStep(rules, step);
      return why === null ? [] : [`${step.name} ${why}`];
    }),
  ];
}

/** Why a run that PML started by itself must not call this tool, whatever the policy says; null if it may. */
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

/** Rounded down, so that a value below the required one is never shown as equal to it. */
function percent(share: number): string {
  return `${Math.floor(100 * share + 1e-9)} %`;
}

/**
 * `*` matches any characters, `?` matches one, everything else itself. The whole text must match. On a mismatch only
 * the last `*` takes one more character, so that the time is at most proportional to the product of both lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  return matches([...glob], [...text]);
}

/** Ignores case, for rules that restrict: many servers ignore case too. */
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

/** Upper case, then lower case: some letters have two lower-case forms, such as `s` and `ſ`. */
function folded(char: string): string {
  return char.toUpperCase().toLowerCase();
}
