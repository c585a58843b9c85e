import { quotedSpans } from '../vocabulary/text.ts';
import { type IsPublic, stem, words, wordsOf } from './public-words.ts';

const DEFAULTS = {
  /** Words of what it is done to. */
  maxObject: 3,
  /** Characters of an intent that are looked at, and intents. */
  maxIntent: 2_000,
  maxIntents: 10,
  /** Characters of one word: longer ones are values. */
  maxWord: 24,
  /** Share of the intents that must say a word for it to be what they have in common. */
  shared: 0.5,
};

export interface RoutineFacts {
  /** What it was wanted for, in people's own words. */
  readonly intents: readonly string[];
  /** Names of its tools without their servers, in order of use. */
  readonly tools: readonly string[];
  /** Those whose results no other call takes: what the program was run for. */
  readonly results: readonly string[];
  /** Words that may be told to all. */
  readonly isPublic: IsPublic;
  /** Values it was run with: other runs have others. */
  readonly values?: readonly string[];
}

/** What is done, and what it is done to. */
interface Phrase {
  readonly verb: string;
  readonly object: readonly string[];
  /** What tells it from others of the same verb and object: `by_city`. */
  readonly tail: readonly string[];
}

/**
 * Names for a routine, verb and object, the best first: what its last calls do, where the intents speak of it too; else
 * what the intents ask for; else the tools' names. Only public words that are not values.
 */
export function nameRoutine(facts: RoutineFacts): string[][] {
  const isAllowed = allowedWords(facts);
  const asked = facts.intents.slice(-DEFAULTS.maxIntents).map((intent) => readIntent(intent, isAllowed));
  const isShared = sharedWords(asked);
  const [first, ...others] = facts.results
    .map((name) => readTool(name))
    .map((phrase, i) => ({ phrase, i, fit: phrase.object.filter(isShared).length }))
    .sort((a, b) => b.fit - a.fit || b.i - a.i);
  const wanted = askedPhrase(asked, isShared);
  const main = first?.phrase ?? null;
  const isSpokenOf = main?.object.some((word) => isShared(word) && !GENERIC.has(word)) ?? false;
  const toolNames = main && main.object.length > 0 ? namesOf(main, verbFor(main, asked), isShared) : [];
  const second = others.find(({ phrase, fit }) => fit > 0 && isOther(phrase, main));
  const both = isSpokenOf && main && second && main.verb !== '' ? [joined(main, second.phrase)] : [];
  const askedNames = wanted ? [[wanted.verb || main?.verb || 'get', ...wanted.object]] : [];
  // "compare the results" says less than a tool of statistics, and "duplicate the text" more than one that writes files.
  const isVague =
    wanted?.object.every((word) => GENERIC.has(word)) === true &&
    main?.verb !== '' &&
    (main === null || !PLUMBING.has(main.verb) || main.object.some((word) => !GENERIC.has(word)));
  const isClear = main !== null && (isSpokenOf || isVague) && verbFor(main, asked) !== undefined;
  const named = isClear ? [...toolNames, ...both, ...askedNames] : [...askedNames, ...toolNames];
  if (named.length > 0) return [...named, ...withOthers(named[0]!, facts.tools)];
  const other = main && withObject(facts.tools);
  if (other) return namesOf(other, undefined, isShared);
  return [toolWords(facts.tools)].filter(({ length }) => length > 0);
}

/** The last call that says what it is done to: `place_order` where `checkout` follows. */
function withObject(tools: readonly string[]): Phrase | undefined {
  return tools.map(readTool).findLast(({ verb, object }) => verb !== '' && object.length > 0);
}

/** Where all other names are taken: `get_music_with_trip` has a call more, or another, than `get_music`. */
function withOthers(name: readonly string[], tools: readonly string[]): string[][] {
  const said = new Set(name.map(stem));
  return tools
    .map((tool) => readTool(tool).object.slice(-2))
    .filter((object) => object.length > 0 && !object.some((word) => said.has(stem(word))))
    .map((object) => [...name, 'with', ...object]);
}

/** What the intents ask to be done to what a tool without a verb is named after. */
function verbFor({ verb, object }: Phrase, asked: readonly AskedFor[]): string | undefined {
  if (verb !== '') return verb;
  const stems = new Set(object.map(stem));
  const about = asked.flatMap(({ phrases }) =>
    phrases.filter((phrase) => phrase.object.some((word) => stems.has(stem(word)))),
  );
  return about[0]?.verb;
}

/** Fragments, stop words and values are in none of the names. */
function allowedWords({ isPublic, results, values = [] }: RoutineFacts): (token: Token) => boolean {
  const inTools = new Set(results.flatMap((name) => wordsOf(name)).map(stem));
  const isValue = new Set(values.flatMap((value) => wordsOf(value)).map(stem));
  return ({ word, isName }) =>
    isWord(word) &&
    isPublic(word) &&
    (!isName || inTools.has(stem(word))) &&
    (!isValue.has(stem(word)) || inTools.has(stem(word)));
}

function isWord(word: string): boolean {
  return word.length > 1 && word.length <= DEFAULTS.maxWord && !/\d/.test(word);
}

interface Token {
  readonly word: string;
  /** Written like a name in the middle of a sentence. */
  readonly isName: boolean;
  readonly startsClause: boolean;
  /** A number or another value follows. */
  isLabel?: boolean;
}

interface AskedFor {
  /** Stems of all it says. */
  readonly says: ReadonlySet<string>;
  /** What it asks to be done, in order. */
  readonly phrases: readonly Phrase[];
}

/** Paths, addresses, file names and numbers are values as a whole. */
const PLAIN = /^\(?\p{L}[\p{L}'’_-]*[.,;:!?)]*$/u;

const COMPOUND = /-(?:in|out|up|off|on|down)\b/i;

function readIntent(intent: string, isAllowed: (token: Token) => boolean): AskedFor {
  const text = withoutQuotes(intent.slice(0, DEFAULTS.maxIntent).trim());
  const tokens: Token[] = [];
  const brands: string[] = [];
  let startsClause = true;
  for (const piece of text.split(/\s/)) {
    if (!PLAIN.test(piece)) {
      const before = tokens.at(-1);
      if (before && !startsClause && /\d/.test(piece)) before.isLabel = LABELS.has(before.word);
      startsClause ||= /[.,;:!?]$/.test(piece);
      continue;
    }
    // "check-in" is one word, and not something to check.
    const parts = wordsOf(COMPOUND.test(piece) ? piece.replaceAll('-', '') : piece);
    if (parts.length > 1 && /\p{Ll}\p{Lu}/u.test(piece)) brands.push(parts.join(''));
    for (const word of parts) {
      const isName = !startsClause && /^\p{Lu}\p{Ll}/u.test(piece);
      tokens.push({ word, isName, startsClause });
      startsClause = false;
    }
    startsClause = /[.,;:!?]$/.test(piece);
  }
  const says = new Set(tokens.filter(isAllowed).map(({ word }) => stem(word)));
  // A tool may spell `AllRecipes` as one word.
  for (const whole of brands)
    if (isAllowed({ word: whole, isName: true, startsClause: false })) says.add(stem(whole));
  return { says, phrases: phrasesIn(tokens, isAllowed) };
}

/** Quoted texts are values, unless the whole intent is quoted. */
function withoutQuotes(text: string): string {
  const spans = quotedSpans(text);
  const [first] = spans;
  if (first?.start === 0 && first.end === text.length) return first.text;
  let [kept, at] = ['', 0];
  for (const { start, end } of spans) {
    kept += `${text.slice(at, start)} , `;
    at = end;
  }
  return kept + text.slice(at);
}

/** Verbs where verbs are expected, each with the words that follow until the next part of the sentence. */
function phrasesIn(tokens: readonly Token[], isAllowed: (token: Token) => boolean): Phrase[] {
  return tokens.flatMap(({ word, startsClause }, i) => {
    const isExpected = startsClause || LEADS.has(tokens[i - 1]?.word ?? '');
    const question = isExpected || QUESTIONS[word] ? questionAt(tokens, i) : null;
    const verb = question?.verb ?? (isExpected ? (ASKED_VERBS.has(word) ? word : verbOf(word)) : null);
    if (!verb) return [];
    const object: string[] = [];
    for (let at = question?.next ?? i + 1; at < tokens.length && object.length < DEFAULTS.maxObject; at++) {
      const next = tokens[at]!;
      if (next.startsClause || ENDS.has(next.word)) break;
      // "last year's report" is a report.
      if (PERIODS.has(next.word) && POINTERS.has(tokens[at - 1]!.word)) continue;
      // "product ID 9098084" is a product, and "the report located in" is a report.
      if (object.length > 0 && (next.isLabel || (next.word.endsWith('ed') && endsAt(tokens, at + 1)))) break;
      if (SKIPPED.has(next.word)) {
        if (object.length > 0 && !DETERMINERS.has(next.word)) break;
        continue;
      }
      if (isAllowed(next)) object.push(next.word);
      // What may not be told leaves nothing to describe.
      else if (!next.isName) while (ADJECTIVE.test(object.at(-1) ?? '')) object.pop();
    }
    return object.length > 0 ? [{ verb, object, tail: [] }] : [];
  });
}

/** "financial", "active": such words say nothing without the one after them. */
const ADJECTIVE = /(?:[cntd]ial|tional|ctive|ative|itive|[aeiou]ble|less|ful)$/;

function endsAt(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at];
  return !next || next.startsClause || ENDS.has(next.word);
}

/** "how many notes" asks to count, "find out how large" to measure. */
function questionAt(tokens: readonly Token[], at: number): { verb: string; next: number } | null {
  const how = ['find', 'tell', 'show', 'know', 'check', 'see'].includes(tokens[at]!.word)
    ? tokens.slice(at + 1, at + 4).findIndex(({ word }) => word === 'how') + at + 1
    : at;
  if (tokens[how]?.word !== 'how') return null;
  const verb = QUESTIONS[tokens[how + 1]?.word ?? ''];
  return verb ? { verb, next: how + 2 } : null;
}

const QUESTIONS: Readonly<Record<string, string>> = {
  many: 'count',
  large: 'measure',
  big: 'measure',
  long: 'measure',
  heavy: 'measure',
  often: 'count',
};

/** Words that enough of the intents say. */
function sharedWords(asked: readonly AskedFor[]): (word: string) => boolean {
  const least = Math.max(1, asked.length * DEFAULTS.shared);
  return (word) => asked.filter(({ says }) => says.has(stem(word))).length >= least;
}

/** What most intents ask for; of one intent the first clear wish. Null where they have nothing in common. */
function askedPhrase(asked: readonly AskedFor[], isShared: (word: string) => boolean): Phrase | null {
  const votes = new Map<string, { phrase: Phrase; count: number }>();
  for (const { phrases } of asked) {
    for (const phrase of phrases) {
      const shared = phrase.object.filter(isShared);
      // What is described stays with what describes it: "active politicians", not "active".
      const object =
        shared.length === 0
          ? []
          : phrase.object.filter((word, i, { length }) => isShared(word) || i === length - 1);
      const isGeneric = shared.every((word) => GENERIC.has(word));
      if (object.length === 0 || (isGeneric && WEAK.has(phrase.verb))) continue;
      const key = `${phrase.verb} ${object.map(stem).join(' ')}`;
      const headless = shared.length < object.length ? 0.25 : 0;
      const clear = (isGeneric ? -0.5 : WEAK.has(phrase.verb) ? 0 : 0.5) - headless;
      const known = votes.get(key);
      votes.set(key, {
        phrase: known?.phrase ?? { ...phrase, object },
        count: (known?.count ?? clear) + 1,
      });
    }
  }
  const [best] = [...votes.values()].sort((a, b) => b.count - a.count);
  if (best) return best.phrase;
  const last = asked.at(-1)?.phrases.find(({ object }) => object.some((word) => !GENERIC.has(word)));
  return asked.length === 1 ? (last ?? null) : null;
}

/** `get_immigration_statistics_by_city`, `clock_alarm_change`, `jetblue_select_entertainment`, `order_tracking`. */
function readTool(name: string): Phrase {
  const said = wordsOf(name.replace(/auto[-_ ]complete/i, 'autocomplete')).filter(isWord);
  const telling = said.filter((word) => !NOISE.has(word));
  const all = telling.length > 0 ? telling : said;
  const at = verbPlace(all);
  const verb = at === -1 ? '' : toolVerb(all, at)!;
  // `lock_unlock_doors`: one of the two is enough; `user_login` logs in, not a user.
  const rest = all.filter(
    (word, i) => i !== at && word !== `un${verb}` && !(word === 'user' && verb.endsWith('_in')),
  );
  // `fresh_direct_add_to_favorites`: what stands before the verb tells which favorites.
  if (at > 0 && PREPOSITIONS.has(all[at + 1] ?? '') && all.length > at + 2) {
    const object = [...trimmed(all.slice(0, at)), ...trimmed(all.slice(at + 2))];
    return { verb: `${verb}_${all[at + 1]}`, object, tail: [] };
  }
  const cut = rest.findIndex((word, i) => i > 0 && PREPOSITIONS.has(word) && word !== 'per');
  const trim = (part: readonly string[]) => trimmed(part.filter((word) => !DETERMINERS.has(word)));
  const [object, tail] = cut === -1 ? [rest, []] : [rest.slice(0, cut), rest.slice(cut)];
  const tailEnd = trimmed(tail.slice(1));
  return { verb, object: trim(object), tail: tailEnd.length > 0 ? [tail[0]!, ...tailEnd] : [] };
}

/** First, last, else in between: `run_report` runs, `report_run` does too. */
function verbPlace(all: readonly string[]): number {
  if (toolVerb(all, 0)) return 0;
  if (all.length > 1 && verbOf(all.at(-1)!)) return all.length - 1;
  // After `fixed`, a `deposit` is a thing.
  return all.findIndex((word, i) => verbOf(word) !== null && !all[i - 1]?.endsWith('ed'));
}

/** `is_full` checks, and `place_order` places what is a verb elsewhere. */
function toolVerb(all: readonly string[], at: number): string | null {
  const word = all[at] ?? '';
  if (at === 0 && all.length > 1 && (word === 'is' || word === 'has')) return 'check';
  if (at === 0 && word === 'place' && all.at(-1) === 'order') return word;
  return verbOf(word);
}

/** From short to long: the longer ones serve where the shorter are taken. */
function namesOf(
  { verb, object, tail }: Phrase,
  fallback: string | undefined,
  isShared: (word: string) => boolean,
): string[][] {
  const first = verb || fallback || 'get';
  // Of many words those the intents say too, and the last, which the others describe.
  const spoken = object.filter((word, i) => isShared(word) || i === object.length - 1);
  const core = (object.length > DEFAULTS.maxObject ? spoken : object).slice(-DEFAULTS.maxObject);
  const own = core.filter((word) => word !== first);
  const short = [first, ...(own.length > 0 ? own : core)];
  return tail.length === 0 ? [short] : [short, [...short, ...tail]];
}

function isOther(phrase: Phrase, main: Phrase | null): boolean {
  return phrase.verb !== '' && !phrase.object.every((word) => main?.object.includes(word));
}

/** `book_flight_and_hotel`, `book_flight_and_reserve_room`. */
function joined(a: Phrase, b: Phrase): string[] {
  const [left, right] = [a.object.slice(0, 2), b.object.slice(0, 2)];
  return [a.verb, ...left, 'and', ...(a.verb === b.verb ? right : [b.verb, ...right])];
}

/** `read_text_file`, `write_file` -> `read_text_file_and_write_file`. */
function toolWords(tools: readonly string[]): string[] {
  const names = [...new Set(tools.map((name) => trimmed(wordsOf(name).filter(isWord)).join(' ')))].filter(
    (name) => name !== '',
  );
  const [first = '', last = ''] = [names[0], names.at(-1)];
  return (first === last ? first : `${first} and ${last}`).split(' ').filter((word) => word !== '');
}

function trimmed(part: readonly string[]): string[] {
  const isEnd = (word: string | undefined) => word !== undefined && STOP_WORDS.has(word);
  const kept = [...part];
  while (isEnd(kept[0])) kept.shift();
  while (isEnd(kept.at(-1))) kept.pop();
  return kept;
}

/** The plain form of a verb, or of what is made of one: `booking`, `purchase`, `analyzer`; null for other words. */
function verbOf(word: string): string | null {
  if (Object.hasOwn(VERB_OF, word)) return VERB_OF[word]!;
  if (VERBS.has(word)) return word;
  if (!word.endsWith('ing')) return null;
  const base = word.slice(0, -3);
  const single = base.at(-1) === base.at(-2) ? base.slice(0, -1) : base;
  const plain = [base, `${base}e`, single].find((form) => VERBS.has(form) || Object.hasOwn(VERB_OF, form));
  return plain === undefined ? null : (VERB_OF[plain] ?? plain);
}

const VERB_OF: Readonly<Record<string, string>> = {
  know: 'get',
  tell: 'get',
  give: 'get',
  see: 'show',
  look: 'find',
  grab: 'get',
  obtain: 'get',
  purchase: 'buy',
  sale: 'sell',
  login: 'log_in',
  signin: 'sign_in',
  analyzer: 'analyze',
  analysis: 'analyze',
  calculator: 'calculate',
  converter: 'convert',
  generator: 'generate',
  translator: 'translate',
  translation: 'translate',
  registration: 'register',
  reservation: 'reserve',
  cancellation: 'cancel',
  modification: 'change',
  recommendation: 'recommend',
  payment: 'pay',
  comparison: 'compare',
  creation: 'create',
  deletion: 'delete',
  conversion: 'convert',
  calculation: 'calculate',
  checkout: 'check_out',
  validation: 'validate',
  verification: 'verify',
  assessment: 'assess',
  evaluation: 'evaluate',
  estimation: 'estimate',
  prediction: 'predict',
  detection: 'detect',
  compression: 'compress',
  repayment: 'repay',
  finder: 'find',
  checker: 'check',
  planner: 'plan',
  tracker: 'track',
  scanner: 'scan',
  reader: 'read',
  parser: 'parse',
  validator: 'validate',
  estimator: 'estimate',
  locator: 'locate',
  extractor: 'extract',
  summarizer: 'summarize',
  del: 'delete',
};

const VERBS = words(
  `accept activate add adjust advise analyse analyze answer append apply approve archive arrange assess assign attach autocomplete
  backup block book browse build buy calculate cancel capture categorize change charge check choose classify clean clear clone
  close collect combine compare complete compress compute configure confirm connect control convert copy correct count create
  decode decrypt delete deploy deposit design detect determine diagnose disable display divide download draft duplicate edit email
  enable encode encrypt enroll estimate evaluate exchange execute explain explore export extract fetch fill filter find
  fix follow forecast format forward generate get greet group handle identify import increase insert inspect install invite join
  launch list load locate lock log look make manage map mark match measure merge modify monitor move multiply navigate
  notify open optimize order organise organize parse pause pay perform pick plan play plot post predict prepare print
  process publish pull push query rank rate read recommend record recover redeem reduce refund register reject remember
  remind remove rename renew rent repair repay reply report request reschedule reserve reset resize resolve restart restore
  retrieve return reverse review rotate run save scan schedule search select sell send set share show simulate solve sort
  split start stop store stream submit subscribe subtract suggest sum summarise summarize switch sync tag test tidy track
  transfer transform translate trim turn unlock unsubscribe update upgrade upload validate verify view visit watch withdraw
  write zip`.trim(),
);

/** Verbs in a sentence that are nouns in the name of a tool. */
const ASKED_VERBS = words('file raise place lodge hire recommend');

/** Says of a tool that it is one. */
const NOISE = words('tool tools api apis plugin endpoint provider service processing');

/** Said where something else says better what is wanted. */
const WEAK = words('get show find look check make run set perform request process manage open view');

/** What tools do to files and records, whatever the job is. */
const PLUMBING = words(
  'get set put read write create edit update insert append save store load fetch list run execute',
);

/** What nearly everything is done to: says nothing by itself. */
const GENERIC = words(
  `file files directory folder data info information details detail result results list item items content contents text
  value values object objects record records entity entities node nodes page url query request api tool tools one thing
  things name names id ids status code test user users number numbers search option options time times date dates change changes place
  places`.trim(),
);

/** What a value is introduced with. */
const LABELS = words('id ids sku number no');

const POINTERS = words('last next this previous');
const PERIODS = words('day week month quarter year');

const LEADS = words(
  `to and then please also just now can could would will should must you we lets let help me us want need like kindly
  finally first next afterwards`.trim(),
);

const DETERMINERS = words(
  `a an the this that these those my our your his her its their all any some each every both one two three four five ten me us
  new current latest recent last next previous available specific following given certain named called top best good popular yesterday today tomorrow tonight`.trim(),
);

const PREPOSITIONS = words(
  'about across after along among around as at before between by during for from in into near of off on onto out over per since through to under until up using via with within without',
);

const STOP_WORDS: ReadonlySet<string> = new Set([
  ...DETERMINERS,
  ...PREPOSITIONS,
  ...words(
    `am and are be been being but can could did do does done either had has have he here how i if is it just let like
    may might more most must need neither no nor not now only or other please she should so such than then there they
    too very want was we were what when where whether which while who whom whose why will would you re ve ll don`,
  ),
]);

const SKIPPED: ReadonlySet<string> = new Set([...STOP_WORDS, 'currently', 'quickly', 'again']);

/** Where what a verb is said of ends. */
const ENDS: ReadonlySet<string> = new Set([
  ...[...PREPOSITIONS].filter((word) => !['out', 'up', 'off', 'over'].includes(word)),
  ...words('and or then which that who where when while so because if but is are was were will can could'),
]);

/** A word that must not begin or end a name. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
