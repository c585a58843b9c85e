import { walk } from 'oxc-walker';
import { parseProgram } from '../structure/parse/parse-program.ts';

const DEFAULTS = {
  /** Characters of one word. */
  maxWord: 40,
};

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

/** Which words of an intent may be told to all. */
export type IsPublic = (word: string) => boolean;

/**
 * Whatever somebody writes can hold what is theirs alone: an account, a password that is a plain word, a name. So
 * only words may be told that tell nothing of anybody: everyday ones, those of the tools, and names in the program.
 */
export function publicWords(code: string, toolTexts: Iterable<string>): IsPublic {
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
  return (word) => COMMON.has(word) || COMMON_STEMS.has(stem(word)) || known.has(stem(word));
}

/** `I'm`, `it's`, `don't`: what follows the apostrophe is not a word. */
const CONTRACTED = /(?<=\p{L})(?:n['’]t|['’](?:s|m|d|t|re|ve|ll))(?!\p{L})/giu;

/** Lower-case Latin words; `readFile` and `URLTool` are two of them, `eBay` and `ETrade` are one. */
export function wordsOf(text: string): string[] {
  const plain = text.replace(CONTRACTED, ' ').normalize('NFKD').replace(/\p{M}/gu, '');
  const apart = plain
    .replace(/(\p{L}\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(?<=\p{Lu}\p{Lu})(?=\p{Lu}\p{Ll}\p{Ll})/gu, ' ')
    .toLowerCase();
  return apart.split(/[^a-z0-9]/).filter((word) => word !== '');
}

const COMMON_STEMS = new Set([...COMMON].map(stem));

/** `files`, `listed`, `listing` -> `list`; rough, and the same for all. */
export function stem(word: string): string {
  return word.replace(/(?:ies|ing|ed|es|s|e|y)$/, '');
}

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}
