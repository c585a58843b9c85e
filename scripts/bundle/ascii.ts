import type { Node } from 'oxc-parser';
import { parseFile, walk } from '../check/source-file.ts';

/** With the backslashes before it: an odd number of them escapes the character itself. */
const BEYOND_ASCII = /(\\*)([\u0080-\uffff])/g;

/**
 * The same program with `\u2026` for `…`. The engine keeps the text of a file for as long as its functions live, and
 * with two bytes for each character if one of them is beyond Latin-1: a single `…` doubles a file of a megabyte, in
 * every thread that reads it. A tagged template sees its own text, so it stays as it is.
 */
export function inAscii(path: string, code: string): string {
  if (code.search(BEYOND_ASCII) === -1) return code;
  const texts: { readonly start: number; readonly end: number }[] = [];
  const visit = (node: Node): boolean | undefined => {
    if (node.type === 'TaggedTemplateExpression') {
      for (const part of [node.tag, ...node.quasi.expressions]) walk(part, visit);
      return false;
    }
    if (node.type === 'Literal' || node.type === 'TemplateElement') texts.push(node);
    return undefined;
  };
  walk(parseFile({ path, text: code }).program, visit);
  texts.sort((a, b) => a.start - b.start);
  let written = '';
  let from = 0;
  for (const { start, end } of texts) {
    written += code.slice(from, start) + code.slice(start, end).replace(BEYOND_ASCII, escaped);
    from = end;
  }
  return written + code.slice(from);
}

function escaped(whole: string, slashes: string, character: string): string {
  if (slashes.length % 2 === 1) return whole;
  return `${slashes}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
