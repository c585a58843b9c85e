import { identifierWords } from './identifier-words.ts';

/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do for from has have how i in into is it its me my of on or our please so that the their then there this to us want we what when which will with you your'.split(
    ' ',
  ),
);

/** Lower-case words of a text; identifiers in it are taken apart, plurals meet their singular. */
export function words(text: string): string[] {
  return identifierWords(text.replace(/[^\p{L}\p{N}_\-.:/\s]+/gu, ' '))
    .split(' ')
    .filter((word) => word !== '' && !STOP_WORDS.has(word))
    .map(singular);
}

/** Just enough of a stemmer for tool names: files -> file, entities -> entity, queries -> query. */
function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 3 && word.endsWith('s') && !/(ss|us|is)$/.test(word)) return word.slice(0, -1);
  return word;
}
