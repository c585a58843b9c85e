import { walk } from 'oxc-walker';
import { parseProgram } from '../structure/parse/parse-program.ts';
import { isSlug } from '../vocabulary/ids.ts';
import { oneLine } from '../vocabulary/text.ts';

const DEFAULTS = {
  maxWords: 5,
  /** Characters of a slug before a number is added. */
  maxSlug: 40,
  /** Characters of a description. */
  maxDescription: 200,
  /** Characters of an intent that are looked at. */
  maxIntent: 2_000,
  /** Of one word. */
  maxWord: 40,
};

export interface Purpose {
  /** What may be told of the intent: `publicIntent`. */
  readonly intent: string;
  /** Ids of the tools it uses, in order of use. */
  readonly tools: readonly string[];
}

/** A slug is used as a name in code, and `capabilities` must not look like a promise or an object's machinery. */
const RESERVED = new Set(
  (
    'arguments async await break case catch class const constructor continue debugger default delete do else enum ' +
    'eval export extends false finally for function get if implements import in instanceof interface let name new ' +
    'null of package private protected public return set static super switch then this throw true try typeof ' +
    'undefined var void while with yield'
  ).split(' '),
);

/**
 * A readable name that nothing else has: two to five words of what was wanted, else the tools' names.
 * `taken`: slugs and aliases.
 */
export function slugFor({ intent, tools, taken }: Purpose & { readonly taken: Iterable<string> }): string {
  const words = wordsOf(intent).filter((word) => !FILLERS.has(word));
  const named = words.length >= 2 ? joined(words) : toolSlug(tools) || joined(words);
  const slug = isSlug(named) && !isReserved(named) ? named : `run_${named || 'task'}`;
  const others = new Set(taken);
  if (!others.has(slug)) return slug;
  let count = 2;
  while (others.has(`${slug}_${count}`)) count++;
  return `${slug}_${count}`;
}

export function isReserved(slug: string): boolean {
  return RESERVED.has(slug) || slug in {};
}

/** One sentence for people and models that look for it: what was wanted, and with what. */
export function describeCapability({ intent, tools }: Purpose): string {
  const names = [...new Set(tools)];
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0];
  const words = wordsOf(intent).filter((word) => !FILLERS.has(word)).length;
  if (words < 2) return oneLine(list ? `Runs ${list}.` : 'Runs a piece of code.', DEFAULTS.maxDescription);
  const line = oneLine(intent, DEFAULTS.maxDescription);
  const wanted = `${line[0]?.toUpperCase()}${line.slice(1)}`;
  const whole = list ? `${wanted}, with ${list}.` : `${wanted}.`;
  return whole.length <= DEFAULTS.maxDescription ? whole : `${wanted}.`;
}

/** `filesystem:read_file`, `filesystem:write_file` -> `read_file_and_write_file`. */
function toolSlug(tools: readonly string[]): string {
  const names = [...new Set(tools.map((tool) => wordsOf(tool.slice(tool.indexOf(':') + 1)).join('_')))];
  const [first, last] = [names[0] ?? '', names.at(-1) ?? ''];
  const both = first === last ? first : `${first}_and_${last}`;
  return both.length <= DEFAULTS.maxSlug ? both : joined(first.split('_'));
}

/** As many words as fit; the first one is cut if it must be. */
function joined(words: readonly string[]): string {
  let slug = (words[0] ?? '').slice(0, DEFAULTS.maxSlug);
  for (const word of words.slice(1, DEFAULTS.maxWords)) {
    if (slug.length + 1 + word.length > DEFAULTS.maxSlug) break;
    slug = `${slug}_${word}`;
  }
  return slug;
}

/** Words that do not tell one task from another. */
const FILLERS = words(
  'a about after all also an and any are as at be been by can could do does each every for from get give has have ' +
    'how i if in into is it its just let like me my need now of on or our out please should so some than that the ' +
    'their them then there these this those to up us use using want was we were what when where which who will with ' +
    'would you your',
);

/** What people do with tools, and what they do it to: nobody's secret. */
const COMMON = words(
  'accept account action active activity add address agenda aggregate alert among analyse analysis analyze answer append ' +
    'apply approve archive arrange article ask assign attach attachment audit author average backup balance batch board both ' +
    'body book branch browse budget bug build bulk button calculate calendar call cancel categorise categorize category ' +
    'cell change channel chart chat check checksum choose class clean clear click clone close code collect column combine ' +
    'comment commit compare complete compress compute config configuration confirm connect contact contents content ' +
    'convert copy correct count create crop csv current customer daily data database dataset date day decode deduplicate ' +
    'default delete deploy describe description details detect diff digest directory disable display document domain done ' +
    'double download draft drop due duplicate edge edit element email empty enable encode end engineer entry environment error ' +
    'event example execute expand expense export extract fail failed fetch field fields file fill filter find first fix ' +
    'flag folder follow forecast form format forward free frequency function generate greet greeting group handle hash ' +
    'header heading hello highest history hour html image import inbox index info information input insert inspect ' +
    'install inventory invoice issue item job join json key keyword known label language large largest last latest launch layout ' +
    'length level limit line link list load local locate log long look lookup lowest mail make manage map mark markdown ' +
    'match max mean meeting member merge message metadata metric min minute missing model month monthly move multiply ' +
    'name new news newest next node note notify number numbers object old oldest one open order organise organize outline ' +
    'output overdue overview owner package page pair parse part past path pay payment people percent person photo pick ' +
    'place plan plot point poll post preview price print priority process product profile program project prune publish ' +
    'pull purge push query question queue rank rate read recent recipient record recurring reduce refresh region register ' +
    'relation release reload remember remind reminder remove rename render repeat reorder replace reply repo repository report request ' +
    'reschedule resize resolve response restart restore result resume retrieve return reverse review rotate round route ' +
    'row rows rule run sale sales sample save scan schedule schema score screenshot script search section select send ' +
    'sentence sequence server service set share sheet short show sign size small smallest snapshot sort source split ' +
    'spreadsheet star start state statistics status step stop store story stream string submit subscribe subtract sum ' +
    'summarise summarize summary supplier swap sync table tag task team tell ten template test text thread ticket tidy time title ' +
    'today together tomorrow top topic total track transaction transfer transform translate tree trigger trim turn twice two three ' +
    'type unassigned undo unique update upload upper url user users validate value values verify version video view ' +
    'visit watch weather web week weekly word words work write year yesterday zip',
);

/** The words that may be told to all, for intents about a program: its own names and those of its tools. */
export function publicWords(code: string, toolTexts: Iterable<string>): ReadonlySet<string> {
  const known = new Set<string>();
  const add = (text: string) => {
    for (const word of wordsOf(text)) known.add(stem(word));
  };
  for (const text of toolTexts) add(text);
  const parsed = parseProgram(code);
  if (parsed.ok)
    walk(parsed.value.program, {
      enter(node) {
        if (node.type === 'Identifier' && node.name.length <= DEFAULTS.maxWord) add(node.name);
      },
    });
  return known;
}

/**
 * What of an intent may be told to all. Whatever somebody writes can hold what is theirs alone: an account, a
 * password that is a plain word, a name. So only words are left that tell nothing of anybody.
 */
export function publicIntent(intent: string | null, known: ReadonlySet<string>): string {
  const kept: string[] = [];
  const text = (intent ?? '').slice(0, DEFAULTS.maxIntent).replace(QUOTED, ' ');
  // Paths, addresses, file names and numbers are values as a whole.
  const plain = text.split(/\s/).filter((token) => PLAIN.test(token));
  for (const word of plain.flatMap(wordsOf)) {
    const isPublic =
      FILLERS.has(word) || COMMON.has(word) || COMMON_STEMS.has(stem(word)) || known.has(stem(word));
    if (isPublic) kept.push(word);
  }
  // Sentences neither begin nor end in the middle of what was left out.
  while (kept.length > 0 && EDGES.has(kept.at(-1)!)) kept.pop();
  while (kept.length > 0 && EDGES.has(kept[0]!)) kept.shift();
  return kept.some((word) => !FILLERS.has(word)) ? kept.join(' ') : '';
}

const QUOTED = /"[^"]*"|`[^`]*`|(?<!\p{L})'[^']*'/gu;
const PLAIN = /^\(?\p{L}[\p{L}'_-]*[.,;:!?)]*$/u;
const EDGES = words(
  'a an and as at by for from in into is of on or our that the their them then this to us with your my',
);

/** Lower-case Latin words; `readFile` is two of them, `GitHub` is one. Words with digits are values. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '');
  const apart = plain.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').toLowerCase();
  return apart.split(/[^a-z0-9]/).filter((word) => word !== '');
}

const COMMON_STEMS = new Set([...COMMON].map(stem));

/** `files`, `listed`, `listing` -> `list`; rough, and the same for all. */
function stem(word: string): string {
  return word.replace(/(?:ies|ing|ed|es|s|e|y)$/, '');
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
