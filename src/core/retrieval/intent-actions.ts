import { TopK } from '../numeric/top-k.ts';
import { words } from './words.ts';

const DEFAULTS = {
  /** Characters and words of an intent that are looked at: what it asks for stands early. */
  characters: 4_000,
  words: 400,
  /** Words after a negation that it may speak of: "do not ever again send". */
  reach: 3,
  /** Past intents that are compared, and the cosine from which they are. */
  compared: 100,
  alike: 0.3,
};

/**
 * Verbs that ask for the same kind of work. The list is short on purpose: a verb that is not on it is a class of
 * its own, and only says something where both intents use it.
 */
const CLASSES: Readonly<Record<string, string>> = {
  create:
    'create make write compose draft generate build produce prepare add insert author record save store',
  delete:
    'delete remove erase drop clear purge wipe discard trash destroy shred uninstall unset throw toss rid',
  cancel:
    'cancel void revoke undo revert withdraw abort annul rescind retract recall rollback refund unsubscribe unbook',
  refuse: 'reject decline deny refuse forbid block ban dismiss disapprove veto prohibit',
  stop: 'stop end halt disable deactivate terminate kill suspend freeze shut unpublish',
  skip: 'skip ignore forget avoid omit prevent exclude withhold postpone delay hold refrain',
  send: 'send email mail message notify post share forward deliver submit publish text dispatch',
  read: `get show find list search look fetch retrieve read display give tell check view see know query browse
    explore identify determine discover lookup what which who when where how`,
  update: 'update change edit modify adjust rename replace correct fix amend alter revise set',
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

/** Classes that take back, keep from happening, or end what others do: opposed to every class that is not one. */
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
/** Said of what a verb is to be done to, nothing is to be done; "no later than" says when. */
const NONE = new Set('no none nothing nobody neither'.split(' '));
const COMPARED = new Set('later earlier sooner more less fewer longer matter'.split(' '));
/** After these it is said how or where: "a report with no pictures". */
const LINKS = new Set('with without in at on for of by to from about that which who'.split(' '));
/** Small words that can turn what is asked for around or put it off: "write it off", "anything but", "only if". */
const TURNING = new Set([
  ...NEGATIONS,
  ...`zero off out away down over back aside apart against except but from
  if unless until only whether maybe perhaps`.split(/\s+/),
]);
/** An intent that begins with one of these is a command. */
const PROHIBITIONS = new Set(['not', 'never', 'dont', 'no']);
/** Where one of these is said, a negation may tell how things are. */
const TELLING = new Set(
  'cannot cant couldnt doesnt didnt wont can could does did will is are was were has have had'.split(' '),
);
/** After one of these, or at the start of a clause, a verb says what is to be done. */
const LEADS = new Set(
  `to and then or but please also just now can could would will should must you we i lets let help me
  us want need like id we'd kindly instead rather not never dont without ever again`.split(/\s+/),
);
/** Words between a lead and its verb that change nothing. */
const FILLERS = new Set('the a an my our your all any kindly quickly immediately'.split(' '));

/** One thing that an intent asks for. */
export interface Action {
  /** The class of its verb, or the verb's stem where it is in none. */
  readonly kind: string;
  readonly isKnown: boolean;
  /** Asked not to be done. */
  readonly isNegated: boolean;
}

/** What an intent asks for, in order: English imperatives, wishes and questions, by their position. */
export function actionsOf(intent: string): readonly Action[] {
  return actionsAmong(tokensOf(intent));
}

function actionsAmong(tokens: readonly string[]): readonly Action[] {
  const actions: Action[] = [];
  let isExpected = true;
  let negatedFor = 0;
  /** Words in which what is said to be done may be taken back: "write no report", "send Bob nothing". */
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
      // "no" and "without" speak of what follows as well as "do not" does.
      negatedFor = DEFAULTS.reach;
      isExpected = true;
      continue;
    }
    // "get rid of" reads nothing.
    if (LEADS.has(token) || (token === 'get' && tokens[i + 1] === 'rid')) {
      isExpected = true;
      continue;
    }
    if (isExpected && !FILLERS.has(token)) {
      const kind = CLASS_OF.get(words(token)[0] ?? token);
      const isNegated = negatedFor > 0;
      // "Do not forget to send it" asks for it.
      if (isNegated && kind === 'skip') {
        negatedFor = 0;
        continue;
      }
      if (kind !== undefined) {
        actions.push({ kind, isKnown: true, isNegated });
        openFor = DEFAULTS.reach;
      } else if (isNegated) actions.push({ kind: words(token)[0] ?? token, isKnown: false, isNegated });
      isExpected = false;
    }
    negatedFor--;
  }
  return actions;
}

export type ActionRelation = 'same' | 'different' | 'opposed' | 'unknown';

/**
 * How what two intents ask for goes together. Opposed: one takes back, prevents or negates what the other asks for.
 * Different: both say what is to be done, and it is not the same. Unknown: at least one of them does not say.
 */
export function relateActions(a: readonly Action[], b: readonly Action[]): ActionRelation {
  if (negates(a, b) || negates(b, a)) return 'opposed';
  const [kindsOfA, kindsOfB] = [affirmed(a), affirmed(b)];
  if (kindsOfA.size === 0 || kindsOfB.size === 0) return 'unknown';
  const areDisjoint = kindsOfA.isDisjointFrom(kindsOfB);
  if (areDisjoint || undoesFirst(a) !== undoesFirst(b)) {
    if (undoes(kindsOfA) !== undoes(kindsOfB)) return 'opposed';
    if (
      OPPOSED.some(([x, y]) => (kindsOfA.has(x) && kindsOfB.has(y)) || (kindsOfA.has(y) && kindsOfB.has(x)))
    )
      return 'opposed';
  }
  return areDisjoint ? 'different' : 'same';
}

/** `a` asks for something not to be done, and `b` does not. */
function negates(a: readonly Action[], b: readonly Action[]): boolean {
  const negated = (actions: readonly Action[]) =>
    new Set(actions.filter(({ isNegated }) => isNegated).map(({ kind }) => kind));
  const [inA, inB] = [negated(a), negated(b)];
  const does = affirmed(b);
  // What somebody does not know or cannot find is not a wish: "I don't know which".
  if ([...inA].some((kind) => kind !== 'read' && does.has(kind) && !inB.has(kind))) return true;
  // The first thing said decides: "never mail her the bill" prevents what "send her the bill" does.
  const [first] = a;
  if (!first?.isNegated) return false;
  if (b[0] !== undefined) return !b[0].isNegated && inB.size === 0;
  // Without a verb a thing is asked for: "weekly report for the team", where "the team needs no weekly report".
  return first.kind !== 'read' && affirmed(a).size === 0;
}

function undoes(kinds: ReadonlySet<string>): boolean {
  return [...kinds].some((kind) => UNDOING.has(kind));
}

function undoesFirst(actions: readonly Action[]): boolean {
  const first = actions.find(({ isNegated, isKnown }) => isKnown && !isNegated);
  return first !== undefined && UNDOING.has(first.kind);
}

function affirmed(actions: readonly Action[]): ReadonlySet<string> {
  return new Set(actions.filter(({ isNegated, isKnown }) => !isNegated && isKnown).map(({ kind }) => kind));
}

/** How past intents go together with a query. */
export interface RelatedIntents {
  /** Those that ask for the opposite. */
  readonly opposed: ReadonlySet<number>;
  /**
   * Those that ask for the same, by their verbs or, where these are not listed, by the word they begin with, and with
   * every small word that could turn it around.
   */
  readonly alike: ReadonlySet<number>;
  /** Of those that say what is to be done, the share that asks for other work or the opposite; 0 where none says. */
  readonly others: number;
  /** All that the query says is what is not to be done. */
  readonly forbids: boolean;
  /** It begins with what is not done, or not to be done. */
  readonly negates: boolean;
}

/** Of the past intents most like a query, since others say nothing anyway. */
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
    };
  });
  const opposed = relations.filter(({ relation }) => relation === 'opposed');
  const alike = relations.filter(
    ({ relation, isLedAlike, turnsAlike }) =>
      turnsAlike && (relation === 'same' || (relation === 'unknown' && isLedAlike)),
  );
  const said = relations.filter(({ relation }) => relation !== 'unknown');
  const same = said.filter(({ relation }) => relation === 'same');
  return {
    opposed: new Set(opposed.map(({ row }) => row)),
    alike: new Set(alike.map(({ row }) => row)),
    others: said.length === 0 ? 0 : 1 - same.length / said.length,
    forbids: asked.forbids,
    negates: asked.actions[0]?.isNegated === true && asked.actions[0].kind !== 'read',
  };
}

interface Reading {
  readonly actions: readonly Action[];
  /** The first word that says anything: of an imperative its verb, listed above or not. */
  readonly lead: string | undefined;
  readonly turns: ReadonlySet<string>;
  /** It only says what is not to be done: "do not back it up", "no report today". */
  readonly forbids: boolean;
}

/** Past intents are read once. */
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
  // "From 2 to 3" says when.
  const turns = tokens.filter(
    (token, i) => TURNING.has(token) && !(token === 'from' && /^\d/.test(tokens[i + 1] ?? '')),
  );
  const reading = { actions, lead: lead && (words(lead)[0] ?? lead), turns: new Set(turns), forbids };
  readings.set(intent, reading);
  return reading;
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
