import { TopK } from '../numeric/top-k.ts';
import { words } from './words.ts';

const DEFAULTS = {
  /** Characters and words of an intent that are read: it usually begins with its request. */
  characters: 4_000,
  words: 400,
  /** Words after a negation that it may apply to: "do not ever again send". */
  reach: 3,
  /** Words that name where something goes: "to the recycle bin". */
  destination: 3,
  /** Most past intents that are compared, and the least cosine for a comparison. */
  compared: 100,
  alike: 0.3,
};

/**
 * Verbs that ask for the same kind of work. The list is short on purpose: a verb that is not listed forms its
 * own class, which only matters if both intents use it.
 */
const CLASSES: Readonly<Record<string, string>> = {
  create:
    'create make write compose draft generate build produce prepare add insert author record save store',
  delete:
    'delete remove erase drop clear purge wipe discard trash destroy shred uninstall unset throw toss rid bin',
  cancel:
    'cancel void revoke undo revert withdraw abort annul rescind retract recall rollback refund unsubscribe unbook',
  refuse: 'reject decline deny refuse forbid block ban dismiss disapprove veto prohibit',
  stop: 'stop end halt disable deactivate terminate kill suspend freeze shut unpublish',
  skip: 'skip ignore forget avoid omit prevent exclude withhold postpone delay hold refrain',
  send: 'send email mail message notify post share forward deliver submit publish text dispatch',
  read: `get show find list search look fetch retrieve read display give tell check view see know query browse
    explore identify determine discover lookup what which who when where how`,
  update: `update change edit modify adjust rename replace correct fix amend alter revise set
    reschedule rearrange rebook`,
  start: 'start begin launch run open activate enable resume play',
  buy: 'buy purchase order book reserve rent',
  sell: 'sell',
  compute: 'calculate compute sum count measure estimate total average',
  convert: 'convert transform',
  translate: 'translate',
  summarise: 'summarise summarize recap condense digest',
  analyse: 'analyse analyze evaluate assess compare review examine investigate',
  approve: 'allow approve accept grant permit authorise authorize confirm',
  lock: 'lock',
  unlock: 'unlock',
  raise: 'increase raise boost extend',
  lower: 'decrease reduce lower cut shorten',
  upload: 'upload push',
  download: 'download pull',
  import: 'import',
  export: 'export',
  hide: 'hide mute archive',
  restore: 'restore recover undelete unarchive',
  deposit: 'deposit',
  encrypt: 'encrypt',
  decrypt: 'decrypt',
  install: 'install',
  copy: 'copy duplicate clone',
  move: 'move transfer relocate',
};

/** What follows an undoing where something is exchanged: "cancel it and book another". */
const REDOING: ReadonlySet<string> = new Set(['update', 'buy']);

/** Classes that undo, prevent or end something: each is the opposite of every class outside this list. */
const UNDOING: ReadonlySet<string> = new Set(['delete', 'cancel', 'refuse', 'stop', 'skip']);

const OPPOSED: readonly (readonly [string, string])[] = [
  ['buy', 'sell'],
  ['lock', 'unlock'],
  ['raise', 'lower'],
  ['upload', 'download'],
  ['import', 'export'],
  ['encrypt', 'decrypt'],
  ['hide', 'restore'],
  ['hide', 'read'],
  ['approve', 'refuse'],
];

const CLASS_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(CLASSES).flatMap(([name, verbs]) =>
    verbs.split(/\s+/).map((verb) => [words(verb)[0] ?? verb, name] as const),
  ),
);

const NEGATIONS = new Set(
  `not never dont doesnt didnt wont cannot cant shouldnt mustnt without neither nor instead rather no nobody nothing none`.split(
    ' ',
  ),
);
/** These make a detail of what follows: "without interruptions", "rather than Michigan". */
const ASIDE = new Set('without neither nor instead rather'.split(' '));
/** Before the object of a verb, these negate the verb; "no later than" is about time. */
const NONE = new Set('no none nothing nobody neither'.split(' '));
const COMPARED = new Set('later earlier sooner more less fewer longer matter'.split(' '));
/** After these words a negation is a detail: "a report with no pictures". */
const LINKS = new Set('with without in at on for of by to from about that which who'.split(' '));
/** What something is done for: "set a low value to avoid glare", unless it is wished for itself: "I am trying to avoid glare". */
const AIMS = new Set(['avoid', 'prevent']);
const WISHING = new Set(
  `want wants wanted need needs needed like prefer wish hope try trying plan plans planning have has sure remember
  decided agreed going how way ways is are was be asked told him her them it`.split(/\s+/),
);
/** Small words that can reverse or defer a request: "write it off", "anything but", "only if". */
const TURNING = new Set([
  ...NEGATIONS,
  ...`zero off out away down over back aside apart against except but from
  if unless until only whether maybe perhaps`.split(/\s+/),
]);
/** An intent that begins with one of these is a prohibition. */
const PROHIBITIONS = new Set(['not', 'never', 'dont', 'no']);
/** With one of these words, a negation may be a statement of fact. */
const TELLING = new Set(
  `cannot cant couldnt doesnt didnt wont isnt arent wasnt can could does did will is are was were has have had
  im its thats hes shes theyre`.split(/\s+/),
);
/** Before one of these words, a negation is a wish in any case: "is not to be sent", "does not want the bill". */
const WISHED = new Set('to be want need'.split(' '));
/** After one of these words, or at the start of a clause, a verb names an action. */
const LEADS = new Set(
  `to and then or but please also just now can could would will should must you we i lets let help me
  us want need like id we'd kindly instead rather not never dont without ever again`.split(/\s+/),
);
/** Before the place that something goes to. A time of day does not count. */
const TOWARD = new Set('to into onto in on'.split(' '));
const ARTICLES = new Set('the a an my our your his her their its this that'.split(' '));
const TIMES = new Set('morning afternoon evening night day week weekend month year meantime end'.split(' '));
/** Words between a lead and its verb that change nothing. */
const FILLERS = new Set('the a an my our your all any kindly quickly immediately'.split(' '));

/** One action that an intent requests. */
export interface Action {
  /** The class of the verb, or its stem if it is not listed. */
  readonly kind: string;
  readonly isKnown: boolean;
  /** Requested not to be done. */
  readonly isNegated: boolean;
  /** The negation states a fact or a detail: "it is not cooling", "I cannot find it", "rather than send it". */
  readonly isTold?: true;
}

/** The actions an intent requests, in order: English imperatives, wishes and questions, found by position. */
export function actionsOf(intent: string): readonly Action[] {
  return actionsAmong(tokensOf(intent));
}

function actionsAmong(tokens: readonly string[]): readonly Action[] {
  const actions: Action[] = [];
  let isExpected = true;
  let negatedFor = 0;
  let isTold = false;
  /** Number of words in which the action may still be taken back: "write no report", "send Bob nothing". */
  let openFor = 0;
  for (const [i, token] of tokens.entries()) {
    if (token === '.') {
      isExpected = true;
      negatedFor = 0;
      openFor = 0;
      continue;
    }
    const done = actions.at(-1);
    if (openFor > 0 && done && NONE.has(token) && !COMPARED.has(tokens[i + 1] ?? '')) {
      actions[actions.length - 1] = { ...done, isNegated: true };
      openFor = 0;
      continue;
    }
    openFor = LINKS.has(token) ? 0 : openFor - 1;
    if (NEGATIONS.has(token)) {
      // "no" and "without" also negate the verbs that follow.
      negatedFor = DEFAULTS.reach;
      isExpected = true;
      isTold = states(tokens, i);
      continue;
    }
    // "get rid of" does not read anything.
    if (LEADS.has(token) || (token === 'get' && tokens[i + 1] === 'rid')) {
      isExpected = true;
      continue;
    }
    if (isExpected && !FILLERS.has(token)) {
      const kind = takesAway(tokens, i) ? 'delete' : CLASS_OF.get(words(token)[0] ?? token);
      const isNegated = negatedFor > 0;
      // "Do not forget to send it" requests it.
      if (isNegated && kind === 'skip') {
        negatedFor = 0;
        continue;
      }
      const told = isNegated && isTold ? { isTold } : null;
      if (kind !== undefined) {
        if (!describes(kind, tokens, i)) actions.push({ kind, isKnown: true, isNegated, ...told });
        openFor = DEFAULTS.reach;
      } else if (isNegated && !told)
        actions.push({ kind: words(token)[0] ?? token, isKnown: false, isNegated });
      isExpected = false;
    }
    negatedFor--;
  }
  return actions;
}

/** Whether the negation at this place tells what is the case, rather than what is wanted. */
function states(tokens: readonly string[], at: number): boolean {
  if (ASIDE.has(tokens[at]!)) return true;
  const isTelling = TELLING.has(tokens[at]!) || TELLING.has(tokens[at - 1] ?? '');
  return isTelling && !WISHED.has(tokens[at + 1] ?? '');
}

/** "Take it out", "take Ada off the list"; not "take out a loan", "take us out for lunch" or "take Friday off". */
function takesAway(tokens: readonly string[], at: number): boolean {
  if (tokens[at] !== 'take') return false;
  const what = tokens.slice(at + 1, at + 2 + DEFAULTS.reach);
  const end = what.findIndex((token) => token === 'out' || token === 'off');
  if (end < 1 || what.slice(0, end).includes('.')) return false;
  const next = tokens[at + 2 + end] ?? '.';
  if (next === 'of' || next === 'from') return true;
  return what[end] === 'out' ? next === '.' || next === 'again' : ARTICLES.has(next);
}

/** "The flight is delayed", "to Rome, stopping in Paris", "a lens to avoid glare": the verb undoes nothing. */
function describes(kind: string, tokens: readonly string[], at: number): boolean {
  if (!UNDOING.has(kind)) return false;
  if (AIMS.has(tokens[at]!) && tokens[at - 1] === 'to') return !isWish(tokens[at - 2] ?? '.');
  return tokens[at]!.endsWith('ed') || (at > 0 && tokens[at - 1] === '.' && tokens[at]!.endsWith('ing'));
}

function isWish(before: string): boolean {
  return before === '.' || LEADS.has(before) || WISHING.has(before);
}

export type ActionRelation = 'same' | 'different' | 'opposed' | 'unknown';

/**
 * How the actions of two intents relate. Opposed: one undoes, prevents or negates the other. Different: both name
 * an action, and not the same one. Unknown: at least one of them names no action.
 */
export function relateActions(a: readonly Action[], b: readonly Action[]): ActionRelation {
  if (negates(a, b) || negates(b, a)) return 'opposed';
  const [kindsOfA, kindsOfB] = [affirmed(a), affirmed(b)];
  if (kindsOfA.size === 0 || kindsOfB.size === 0) return 'unknown';
  const areDisjoint = kindsOfA.isDisjointFrom(kindsOfB);
  if (areDisjoint || undoesFirst(a) !== undoesFirst(b)) {
    if (undoes(a) !== undoes(b)) return exchanges(a, b) || exchanges(b, a) ? 'different' : 'opposed';
    if (
      OPPOSED.some(([x, y]) => (kindsOfA.has(x) && kindsOfB.has(y)) || (kindsOfA.has(y) && kindsOfB.has(x)))
    )
      return 'opposed';
  }
  return areDisjoint ? 'different' : 'same';
}

/** `a` requests that something not be done, and `b` does not. */
function negates(a: readonly Action[], b: readonly Action[]): boolean {
  const negated = (actions: readonly Action[]) =>
    new Set(actions.filter(({ isNegated }) => isNegated).map(({ kind }) => kind));
  const [inA, inB] = [negated(a), negated(b)];
  const does = affirmed(b);
  // Something that a person does not know or cannot find is not a prohibition: "I don't know which".
  if ([...inA].some((kind) => kind !== 'read' && does.has(kind) && !inB.has(kind))) return true;
  // The first action decides: "never mail her the bill" prevents what "send her the bill" does, but not what takes
  // it back, and a fact prevents nothing.
  const [first] = a;
  if (!first?.isNegated || first.isTold) return false;
  if (affirmed(a).size > 0 && undoesFirst(b)) return false;
  if (b[0] !== undefined) return !b[0].isNegated && inB.size === 0;
  // An intent without a verb is a request: "the team needs no weekly report" opposes "weekly report for the team".
  return first.kind !== 'read' && affirmed(a).size === 0;
}

/** To change something is to undo it and to do it again: `a` says it in two steps, `b` in one. */
function exchanges(a: readonly Action[], b: readonly Action[]): boolean {
  return undoes(a) && !affirmed(a).isDisjointFrom(REDOING) && affirmed(b).has('update');
}

/** Something is to be undone, or not to be done. */
function undoes(actions: readonly Action[]): boolean {
  return actions.some(isUndoing);
}

function undoesFirst(actions: readonly Action[]): boolean {
  const first = actions.find(({ isKnown, isNegated, isTold }) => !isTold && (isKnown || isNegated));
  return first !== undefined && isUndoing(first);
}

function isUndoing({ kind, isNegated, isTold }: Action): boolean {
  return isNegated ? !isTold && kind !== 'read' : UNDOING.has(kind);
}

function affirmed(actions: readonly Action[]): ReadonlySet<string> {
  return new Set(actions.filter(({ isNegated, isKnown }) => !isNegated && isKnown).map(({ kind }) => kind));
}

/** How past intents relate to a query. */
export interface RelatedIntents {
  /** Past intents that request the opposite. */
  readonly opposed: ReadonlySet<number>;
  /**
   * Past intents that request the same, by their verbs or, if unlisted, by their first word, that have all of the
   * query's small words that could reverse it, and know every place where it wants something to go.
   */
  readonly alike: ReadonlySet<number>;
  /** Share of different or opposed intents among the past intents that name an action; 0 if none does. */
  readonly others: number;
  /** The query only says what not to do. */
  readonly forbids: boolean;
  /** The query begins with a negated action. */
  readonly negates: boolean;
}

/** Compares the query with the most similar past intents; the others are irrelevant. */
export function relateIntents(
  query: string,
  intents: readonly { readonly text: string }[],
  cosines: ArrayLike<number>,
): RelatedIntents {
  const near = new TopK(DEFAULTS.compared);
  for (let i = 0; i < intents.length; i++) if (cosines[i]! >= DEFAULTS.alike) near.offer(i, cosines[i]!);
  const asked = readingOf({ text: query });
  const relations = near.sorted().map(({ row }) => {
    const known = readingOf(intents[row]!);
    return {
      row,
      relation: relateActions(asked.actions, known.actions),
      isLedAlike: known.lead === asked.lead,
      turnsAlike: asked.turns.isSubsetOf(known.turns),
      goesAlike: asked.destinations.every((place) => !place.isDisjointFrom(known.words)),
    };
  });
  const opposed = relations.filter(({ relation }) => relation === 'opposed');
  const alike = relations.filter(
    ({ relation, isLedAlike, turnsAlike, goesAlike }) =>
      turnsAlike && goesAlike && (relation === 'same' || (relation === 'unknown' && isLedAlike)),
  );
  const said = relations.filter(({ relation }) => relation !== 'unknown');
  const same = said.filter(({ relation }) => relation === 'same');
  return {
    opposed: new Set(opposed.map(({ row }) => row)),
    alike: new Set(alike.map(({ row }) => row)),
    others: said.length === 0 ? 0 : 1 - same.length / said.length,
    forbids: asked.forbids,
    negates: negatesFirst(asked.actions),
  };
}

function negatesFirst([first]: readonly Action[]): boolean {
  return first?.isNegated === true && !first.isTold && first.kind !== 'read';
}

interface Reading {
  readonly actions: readonly Action[];
  /** The first meaningful word: the verb of an imperative, listed above or not. */
  readonly lead: string | undefined;
  readonly turns: ReadonlySet<string>;
  /** The words of each place where something is to go: the bin undoes what the backlog does. Names are values. */
  readonly destinations: readonly ReadonlySet<string>[];
  readonly words: ReadonlySet<string>;
  /** The intent only says what not to do: "do not back it up", "no report today". */
  readonly forbids: boolean;
}

/** Cache: each past intent is read once. */
const readings = new WeakMap<object, Reading>();

function readingOf(intent: { readonly text: string }): Reading {
  const known = readings.get(intent);
  if (known) return known;
  const tokens = tokensOf(intent.text);
  const lead = tokens.find(
    (token) => token !== '.' && !LEADS.has(token) && !NEGATIONS.has(token) && !FILLERS.has(token),
  );
  const actions = actionsAmong(tokens);
  // "I do not know which" forbids nothing, nor does "the door does not open".
  const isForbidden = ({ kind, isKnown, isNegated }: Action) => isNegated && isKnown && kind !== 'read';
  const first = tokens.find((token) => token !== 'do' && token !== 'please') ?? '';
  const isWish = !tokens.some((token) => TELLING.has(token)) && actions.some(isForbidden);
  const forbids = affirmed(actions).size === 0 && (isWish || PROHIBITIONS.has(first));
  // "From 2 to 3" is about time.
  const turns = tokens.filter(
    (token, i) => TURNING.has(token) && !(token === 'from' && /^\d/.test(tokens[i + 1] ?? '')),
  );
  const reading = {
    actions,
    lead: lead && (words(lead)[0] ?? lead),
    turns: new Set(turns),
    destinations: destinationsIn(intent.text),
    words: new Set(words(intent.text.slice(0, DEFAULTS.characters))),
    forbids,
  };
  readings.set(intent, reading);
  return reading;
}

/**
 * "To the bin", "into our archive"; without an article only after "to", where no verb of work follows: "to trash" names a
 * place, "to send it" does not. What has a capital letter or a digit is a value, which differs from run to run.
 */
function destinationsIn(text: string): ReadonlySet<string>[] {
  const said = text.slice(0, DEFAULTS.characters).match(/[\p{L}\p{N}_'’./-]+|[,;:!?()]/gu) ?? [];
  return said.slice(0, DEFAULTS.words).flatMap((word, i, all) => {
    const toward = word.toLowerCase();
    if (!TOWARD.has(toward)) return [];
    const hasArticle = ARTICLES.has(all[i + 1]?.toLowerCase() ?? '');
    const first = i + (hasArticle ? 2 : 1);
    const rest = all.slice(first, first + (hasArticle ? DEFAULTS.destination : 1));
    const end = rest.findIndex((each) => LINKS.has(each) || LEADS.has(each) || /^[^\p{L}\p{N}]/u.test(each));
    const place = end < 0 ? rest : rest.slice(0, end);
    if (place.some((each) => /\p{Lu}|\p{N}/u.test(each) || TIMES.has(each))) return [];
    const stems = new Set(words(place.join(' ')));
    const kind = CLASS_OF.get([...stems][0] ?? '');
    const isPlace = hasArticle || (toward === 'to' && (kind === undefined || UNDOING.has(kind)));
    return isPlace && stems.size > 0 ? [stems] : [];
  });
}

/** Lower-case words, with a full stop for every end of a clause. */
function tokensOf(intent: string): string[] {
  const tokens: string[] = [];
  let word = '';
  const close = () => {
    if (word !== '') tokens.push(word);
    word = '';
  };
  for (const character of intent.slice(0, DEFAULTS.characters).toLowerCase()) {
    if (tokens.length >= DEFAULTS.words) break;
    if (character === "'" || character === '’') continue;
    if (/[\p{L}\p{N}_-]/u.test(character)) word += character;
    else {
      close();
      if ('.,;:!?\n()—–'.includes(character) && tokens.at(-1) !== '.') tokens.push('.');
    }
  }
  close();
  return tokens;
}
