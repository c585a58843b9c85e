import { type EarlierValue, originsOf, type PastCall, valueFrom } from './call-memory.ts';
import {
  type AliasOf,
  learnAliases,
  likenessOf,
  numberIn,
  type SpottedValue,
  spotsIn,
  wordSlots,
  wordsAlike,
} from './spot-values.ts';

const DEFAULTS = {
  /** What speaks for a value, as a share of the past calls, from which it is given, and from which it is offered. */
  enough: 0.2,
  guess: 0.03,
  /** The share from which a plan may run by itself with it. */
  certain: 0.5,
  /** Past calls of a tool that are looked at: those of the intents most alike. */
  examples: 40,
  /** Share of past calls that gave an optional argument from which it is given again. */
  usual: 0.5,
  /** What a past call says for its own value: where nothing tells where it had it from, and where something does. */
  constant: 0.6,
  said: 0.05,
  /** Calls from which a value may be a constant. */
  steadyCalls: 2,
  /** Share of the calls, by likeness, from which a value that no other tool had before is a constant. */
  steady: 0.5,
  /** What it says for a value of the session that comes from the same place. */
  origin: 0.9,
  /** Values of the new intent that a slot may mean, and what each counts against the one before it. */
  fits: 3,
  nextFit: 0.3,
  /** Weight of what names and types alone suggest, beside past calls that are just like it. */
  prior: 0.08,
  /** As part of it: an option that the intent names, and the latest value of the same name, if such were right before. */
  option: 6,
  namesake: 1,
  /** Different values that an argument with options has, as a share of its calls. */
  closed: 0.5,
};

export interface FillRequest {
  readonly intent: string;
  /** JSON schema of the arguments. */
  readonly schema: unknown;
  readonly past: readonly PastCall[];
  /** What is known now, oldest first. */
  readonly earlier: readonly EarlierValue[];
  /** By tool, the ids of the tasks that run before: what they will give can be referred to. */
  readonly planned: ReadonlyMap<string, string>;
}

/**
 * Arguments by analogy: a value of a past call that stood in its intent, or that an earlier call of its session had, is a
 * slot; what stands at the like place now fills it. A value that never changed stays. Optional arguments are given where
 * past calls gave them. Without past calls, names and types alone decide.
 */
export function fillArguments(request: FillRequest): Map<string, FilledArgument> {
  const { intent, schema, past, earlier, planned } = request;
  const examples = [...past].sort((a, b) => b.likeness - a.likeness).slice(0, DEFAULTS.examples);
  const aliasOf = learnAliases(past);
  const spots = spotsIn(intent).map((spot) => withAlias(spot, aliasOf));
  const weights = examples.map(({ likeness }) => 0.02 + likeness ** 2);
  const { properties, required } = readSchema(schema);
  const voted: VotedArgument[] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (!required.has(name) && !isWanted(name, examples, weights, intent)) continue;
    const argument: VotedArgument = { name, votes: new Map() };
    const vote: Vote = (value, score, spot) => {
      const key = JSON.stringify(value);
      const known = argument.votes.get(key);
      const from = known?.spot ?? spot;
      argument.votes.set(key, { value, score: (known?.score ?? 0) + score, ...(from && { spot: from }) });
    };
    const steady = steadiness(name, examples, weights);
    const byName: Parameters<Vote>[] = [];
    voteByName(name, property, examples, intent, spots, earlier, (...found) => void byName.push(found));
    const all =
      sum(weights.filter((_, i) => examples[i]!.arguments[name] !== undefined)) +
      (byName.length > 0 ? DEFAULTS.prior : 0);
    for (const [value, score, spot] of byName) vote(value, (score * DEFAULTS.prior) / all, spot);
    for (const [i, example] of examples.entries()) {
      const value = example.arguments[name];
      if (value === undefined) continue;
      const count: Vote = (found, score, spot) => vote(found, (score * weights[i]!) / all, spot);
      voteFrom(example, value, property, intent, spots, aliasOf, count) ||
        voteByOrigin(example, value, property, earlier, planned, steady(value), count);
    }
    voted.push(argument);
  }
  return chooseArguments(voted);
}

/** By likeness, the share of the calls that had a value; one call alone has not shown that it is always the same. */
function steadiness(
  name: string,
  examples: readonly PastCall[],
  weights: readonly number[],
): (value: unknown) => number {
  const shares = new Map<string, number>();
  let [total, calls] = [0, 0];
  for (const [i, { arguments: args }] of examples.entries()) {
    if (args[name] === undefined) continue;
    const key = JSON.stringify(args[name]);
    shares.set(key, (shares.get(key) ?? 0) + weights[i]!);
    total += weights[i]!;
    calls++;
  }
  return (value) => (calls < DEFAULTS.steadyCalls ? 0 : (shares.get(JSON.stringify(value)) ?? 0) / total);
}

type Vote = (value: unknown, score: number, spot?: SpottedValue) => void;

/**
 * Whether an optional argument is given: past calls did, by likeness; where its value stood in their intents, those count
 * whose intents had something of the kind, and the new one must have it too.
 */
function isWanted(
  name: string,
  examples: readonly PastCall[],
  weights: readonly number[],
  intent: string,
): boolean {
  const giving = examples.map(({ arguments: args }) => args[name] !== undefined);
  if (!giving.includes(true)) return false;
  const kinds = new Set(
    examples.flatMap(({ intent: said, arguments: args }) =>
      [args[name]].flat().flatMap((value) =>
        spotsIn(said)
          .filter((spot) => saysValue(spot, value))
          .map(signOf),
      ),
    ),
  );
  const has = (text: string) => spotsIn(text).some((spot) => kinds.has(signOf(spot)));
  const counted =
    kinds.size === 0
      ? examples.map(() => true)
      : examples.map(({ intent: said }) => has(said) === has(intent));
  const total = sum(weights.filter((_, i) => counted[i]));
  const given = sum(weights.filter((_, i) => counted[i] && giving[i]));
  return total > 0 && given / total >= DEFAULTS.usual;
}

/** What tells kinds of values apart: `#topic` from `@person`. */
function signOf({ kind, text }: SpottedValue): string {
  return kind === 'tag' ? `tag ${text[0]}` : kind;
}

/**
 * What a past call whose value stood in its intent says of a value now: that which stands at the like place. False where
 * its value did not stand there.
 */
function voteFrom(
  example: PastCall,
  value: unknown,
  property: unknown,
  intent: string,
  spots: readonly SpottedValue[],
  aliasOf: AliasOf,
  vote: Vote,
): boolean {
  if (Array.isArray(value) && value.length > 0) return voteForList(example, value, spots, vote);
  const slots = spotsIn(example.intent).filter((slot) => saysValue(withAlias(slot, aliasOf), value));
  for (const slot of slots)
    for (const fit of fitsFor(slot, value, property, spots))
      vote(fit.value, fit.score / slots.length, fit.spot);
  const asWord = slots.length === 0 && typeof value === 'string' ? wordSlots(example.intent, value) : [];
  for (const slot of asWord) {
    const fit = wordsAlike(slot, intent);
    // In the spelling that worked.
    const word = fit && sameWord(fit.text, value) ? value : fit?.text;
    if (fit && isOption(word, property)) vote(word, fit.likeness, fit);
    for (const spot of spots) {
      const likeness = spot.isQuoted || spot.kind === 'name' ? likenessOf(slot, spot) : 0;
      if (likeness > 0.35 && isOption(spot.text, property)) vote(spot.text, likeness * 0.8, spot);
    }
  }
  const isSaid = slots.length > 0 || asWord.length > 0;
  if (isSaid) vote(value, DEFAULTS.said);
  return isSaid;
}

/** The same of one whose value was not said: from where it had it, there it is now; else it is taken as it was. */
function voteByOrigin(
  { tool, within, earlier: before }: PastCall,
  value: unknown,
  property: unknown,
  earlier: readonly EarlierValue[],
  planned: ReadonlyMap<string, string>,
  /** How far the value is a constant, in [0, 1]. */
  steady: number,
  vote: Vote,
): void {
  const given = within.findLast(
    (known) => known.value === value && !known.isArgument && planned.has(known.tool),
  );
  if (given) {
    const from = planned.get(given.tool)!;
    const path = given.path === '' || given.path.startsWith('[') ? given.path : `.${given.path}`;
    vote(`\${${from}${path}}`, DEFAULTS.origin);
  }
  // That the same tool was given the same before may also say that it always is.
  const isTaken = [...before, ...within].some(
    (known) => known.value === value && !(known.isArgument && known.tool === tool),
  );
  const isConstant = !isTaken && steady >= DEFAULTS.steady;
  const origins = given || isConstant ? [] : originsOf(value, [...before, ...within]);
  for (const [rank, origin] of origins.entries()) {
    const now = valueFrom(origin, earlier);
    if (now !== undefined && isOfType(now, property)) vote(now, DEFAULTS.origin / (1 + rank));
  }
  vote(value, given || isTaken ? DEFAULTS.said : Math.max(DEFAULTS.said, DEFAULTS.constant * steady));
}

/** What the parameter's name and type say, and what of its known values the intent names. */
function voteByName(
  name: string,
  property: unknown,
  examples: readonly PastCall[],
  intent: string,
  spots: readonly SpottedValue[],
  earlier: readonly EarlierValue[],
  vote: Vote,
): void {
  const said = new Set(intent.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
  for (const option of optionsOf(name, property, examples))
    if (said.has(option.toLowerCase())) vote(option, DEFAULTS.option);
  const type = typeOf(property);
  if (type === 'array' || type === 'object' || type === 'boolean') return;
  const now = valueFrom(`.${name}`, earlier);
  if (now !== undefined && isOfType(now, property))
    vote(now, DEFAULTS.namesake * trustInNamesakes(name, examples));
  const own = name.toLowerCase().split(/[_\-\s]+/);
  const fitting = spots.filter(
    (spot) => (spot.kind === 'number') === (type === 'number' || type === 'integer'),
  );
  for (const spot of fitting) {
    const value = type === 'number' || type === 'integer' ? numberIn(spot.text) : spot.text;
    if (value === null || !isOption(value, property)) continue;
    const near = [...spot.before, ...spot.after.slice(0, 2)].some((word) => own.includes(word)) ? 1 : 0;
    vote(value, 1 + 2 * near + (fitting.length === 1 ? 1 : 0) - 0.1 * spot.place, spot);
  }
}

/** What it may be at all: as the schema lists it, or a few values that come again and again. */
function optionsOf(name: string, property: unknown, examples: readonly PastCall[]): readonly string[] {
  const listed = (property as { enum?: unknown } | null)?.enum;
  if (Array.isArray(listed)) return listed.filter((option) => typeof option === 'string');
  const given = examples.flatMap(({ arguments: args }) =>
    typeof args[name] === 'string' ? [args[name]] : [],
  );
  const known = new Set(given);
  return known.size <= given.length * DEFAULTS.closed ? [...known] : [];
}

/** How often the latest value of that name in the session was the right one, with a prior of one in two. */
function trustInNamesakes(name: string, examples: readonly PastCall[]): number {
  let [right, all] = [1, 2];
  for (const { arguments: args, earlier } of examples) {
    const before = args[name] === undefined ? undefined : valueFrom(`.${name}`, earlier);
    if (before === undefined) continue;
    all++;
    if (before === args[name]) right++;
  }
  return right / all;
}

/** As arguments have it. */
function withAlias(spot: SpottedValue, aliasOf: AliasOf): SpottedValue {
  const text = spot.kind === 'number' ? undefined : aliasOf(spot.text);
  return text === undefined ? spot : { ...spot, text };
}

function sameWord(a: string, b: unknown): boolean {
  return typeof b === 'string' && a.toLowerCase() === b.toLowerCase();
}

function saysValue({ text }: SpottedValue, value: unknown): boolean {
  if (typeof value === 'number') return numberIn(text) === value;
  if (typeof value !== 'string' || value === '') return false;
  const [a, b] = [text.toLowerCase(), value.toLowerCase()];
  return a === b || a.replace(/^[#@]/, '') === b;
}

/** The values of the new intent that stand most like a slot did, the best first; the next best counts less. */
function fitsFor(slot: SpottedValue, value: unknown, property: unknown, spots: readonly SpottedValue[]) {
  const fits = spots.flatMap((spot) => {
    const typed = asTyped(spot, slot, value, property);
    const score = likenessOf(slot, spot);
    return typed === undefined || score === 0 ? [] : [{ value: typed, score, spot }];
  });
  fits.sort((a, b) => b.score - a.score);
  return fits.slice(0, DEFAULTS.fits).map((fit, i) => ({ ...fit, score: fit.score * DEFAULTS.nextFit ** i }));
}

/** As the argument wants it; undefined where it cannot be. */
function asTyped(spot: SpottedValue, slot: SpottedValue, value: unknown, property: unknown): unknown {
  if (typeof value === 'number') {
    const number = numberIn(spot.text);
    return number !== null && isOfType(number, property) ? number : undefined;
  }
  const isBare = /^[#@]/.test(slot.text) && !/^[#@]/.test(String(value));
  const text = isBare ? spot.text.replace(/^[#@]/, '') : spot.text;
  return isOption(text, property) ? text : undefined;
}

/** Tags, mentions, numbers and other lists: all of the kind that the past ones were of. */
function voteForList(
  example: PastCall,
  value: readonly unknown[],
  spots: readonly SpottedValue[],
  vote: Vote,
): boolean {
  const slots = spotsIn(example.intent);
  const said = value.map((item) => slots.find((slot) => saysValue(slot, item)));
  const [first] = said;
  if (first && !said.includes(undefined)) {
    const like = spots.filter((spot) => signOf(spot) === signOf(first));
    const items =
      typeof value[0] === 'number' ? like.map(({ text }) => numberIn(text)) : like.map(({ text }) => text);
    if (items.length > 0) vote(items, 0.8);
  }
  vote(value, said.includes(undefined) ? DEFAULTS.constant : DEFAULTS.said);
  return true;
}

function isOption(value: unknown, property: unknown): boolean {
  const options = (property as { enum?: unknown } | null)?.enum;
  return !Array.isArray(options) || options.includes(value);
}

function typeOf(property: unknown): unknown {
  return (property as { type?: unknown } | null)?.type;
}

function isOfType(value: unknown, property: unknown): boolean {
  const type = typeOf(property);
  if (type === 'integer') return Number.isInteger(value);
  return typeof type !== 'string' || !['string', 'number', 'boolean'].includes(type) || typeof value === type;
}

function readSchema(schema: unknown) {
  const { properties, required } = (schema ?? {}) as {
    properties?: Readonly<Record<string, unknown>>;
    required?: unknown;
  };
  return { properties: properties ?? {}, required: new Set(Array.isArray(required) ? required : []) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export interface FilledArgument {
  /** Undefined: past calls gave it, and nothing tells what it is now. */
  readonly value: unknown;
  /** Share of past calls, by likeness, that speak for it. */
  readonly score: number;
  /** Enough speaks for it to give it; else it is offered to who is asked. */
  readonly isSure: boolean;
  /** So much speaks for it that nobody needs to look at it before it is used. */
  readonly isCertain: boolean;
  /** It stands in the intent. */
  readonly isSaid?: boolean;
}

interface VotedValue {
  readonly value: unknown;
  readonly score: number;
  /** Where in the intent it stands. */
  readonly spot?: SpottedValue;
}

interface VotedArgument {
  readonly name: string;
  /** By the value as JSON. */
  readonly votes: Map<string, VotedValue>;
}

/** The surest first; what one argument took from the intent, another does not take again. */
function chooseArguments(voted: readonly VotedArgument[]): Map<string, FilledArgument> {
  const chosen = new Map<string, FilledArgument>();
  const used = new Set<number>();
  const left = new Set(voted);
  while (left.size > 0) {
    const ranked = [...left].map((argument) => ({ argument, best: bestOf(argument, used) }));
    ranked.sort((a, b) => (b.best?.margin ?? -1) - (a.best?.margin ?? -1));
    const { argument, best } = ranked[0]!;
    left.delete(argument);
    if (!best || best.score < DEFAULTS.guess) {
      chosen.set(argument.name, { value: undefined, score: 0, isSure: false, isCertain: false });
      continue;
    }
    if (best.spot) used.add(best.spot.place);
    chosen.set(argument.name, {
      value: best.value,
      score: best.score,
      isSure: best.score >= DEFAULTS.enough,
      isCertain: best.score >= DEFAULTS.certain,
      ...(best.spot && { isSaid: true }),
    });
  }
  return chosen;
}

/** With how far it is ahead of the next. */
function bestOf({ votes }: VotedArgument, used: ReadonlySet<number>) {
  const free = [...votes.values()].filter(({ spot }) => !spot || spot.place < 0 || !used.has(spot.place));
  free.sort((a, b) => b.score - a.score);
  const [first, second] = free;
  return first && { ...first, margin: first.score - (second?.score ?? 0) };
}
