import { withoutEnding } from '../vocabulary/without-ending.ts';

/** What a list puts before an item: `[FILE]`, `-`, `3.` */
const BULLET = /^(?:\[[A-Z]+\]|[-*•+]|\d+[.)])\s+/;
/** The same for every item, so that items can be told by it. */
const MARK = /^(?:\[[A-Z]+\]|[-*•+])\s+/;
const NUMBER = /^\d+[.)]\s+/;
/** `Path: …` */
const LABEL = /^[\p{L}][\p{L}\p{N} _-]{0,40}:\s+/u;
const OPENING = /^["'`([{<*]+/;
const CLOSING = '"\'`)]}>.,;:!?*';
const SEPARATORS = /[\s"'`,;:()[\]{}<>|=&?#/\\]+/;
const QUOTES = /["'`]/;

/** The lines of a text, without bullet and label too, and its words without the punctuation around them. */
export function* linesAndWords(text: string): Generator<string> {
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    yield line;
    const item = line.replace(BULLET, '');
    if (item !== line) yield item;
    const labelled = item.replace(LABEL, '');
    if (labelled !== item) yield labelled;
    for (const word of line.split(/\s+/)) yield withoutEnding(word.replace(OPENING, ''), CLOSING);
  }
}

/** What each line lists, and what stands before all of its kind: `[FILE] `, or nothing. */
export function* lineItems(text: string): Generator<{ readonly item: string; readonly bullet: string }> {
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const bullet = MARK.exec(line)?.[0] ?? '';
    if (line !== bullet && !NUMBER.test(line)) yield { item: line.slice(bullet.length), bullet };
  }
}

/** Parts of paths and addresses, fields of JSON, quoted parts. */
export function* segments(text: string): Generator<string> {
  yield* text.split(SEPARATORS);
  yield* text.split(QUOTES);
}
