import { withoutEnding } from '../vocabulary/text.ts';
import { REDACTED } from './redact.ts';

const DEFAULTS = {
  /** Shortest text whose origin can be recognised, in UTF-16 units. */
  minLength: 6,
  /** Longest such text; values of results are cut to this length before they are stored. */
  maxLength: 64 * 1024,
  /** Least number of letters and digits, so that a line of dashes does not count. */
  minAlphanumerics: 4,
  /** Shortest phrase of several words without digit, dot or slash: `in progress` is too common. */
  minPhraseLength: 14,
  /** Shortest single word without digit, dot or slash. */
  minWordLength: 20,
  /** Least number of digits in a name such as `abc123`, unless it has `minMixedLength` characters. */
  minDigits: 3,
  minMixedLength: 8,
  /** Least number of digits in a number, without leading and trailing zeros. */
  minSignificantDigits: 6,
};

const NUMBER = /^[+-]?(\d+)(?:\.(\d+))?(?:e[+-]?\d+)?$/i;
/** A day or a time of day, which a program can know without having read it. */
const DAY_OR_TIME = /^(?:\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?)$/;
const MEDIA_TYPE = /^(?:application|audio|font|image|model|multipart|text|video)\/[\w.+-]+$/i;
const ISSUE_KEY = /^[A-Z][A-Z0-9]+-\d+$/;
/** Paths, URLs, file names, mail addresses, nested fields. */
const STRUCTURED = /^[./\\~@#$][^\s./\\]|[^\s./\\][./\\@:#%+=~$&]+[^\s./\\]/u;
const COMMON = new Set(['127.0.0.1', '0.0.0.0', 'sha256', 'sha384', 'sha512', 'node.js', 'iso-8859-1']);

/**
 * Whether a text is so rare that finding it in two places means that one was copied from the other.
 * Numbers are judged by their digits; words, states, sizes, dates and media types are too common.
 */
export function isDistinctive(text: string): boolean {
  const { minLength, maxLength, minAlphanumerics } = DEFAULTS;
  if (text.length < minLength || text.length > maxLength || text.includes(REDACTED)) return false;
  const number = NUMBER.exec(text);
  if (number) return isDistinctiveNumber(Number(text), `${number[1]}${number[2] ?? ''}`);
  if (DAY_OR_TIME.test(text) || MEDIA_TYPE.test(text) || COMMON.has(text.toLowerCase())) return false;
  if (!hasAtLeast(minAlphanumerics, /[\p{L}\p{N}]/gu, text)) return false;
  return isLongWording(text) || STRUCTURED.test(text) || ISSUE_KEY.test(text) || isMixedName(text);
}

/** Powers of two are sizes and limits, not ids. */
function isDistinctiveNumber(value: number, digits: string): boolean {
  const significant = withoutEnding(digits.replace(/^0+/, ''), '0').length;
  return significant >= DEFAULTS.minSignificantDigits && !isPowerOfTwo(value) && !isPowerOfTwo(value + 1);
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(Math.abs(value)));
}

function isLongWording(text: string): boolean {
  if (text.length >= DEFAULTS.minWordLength) return true;
  const words = text.split(/[\s_-]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '').length;
  return words > 1 && text.length >= DEFAULTS.minPhraseLength;
}

/** Letters and digits without a space: ids, hashes, revisions. */
function isMixedName(text: string): boolean {
  if (/\s/.test(text)) return false;
  const { minDigits, minMixedLength } = DEFAULTS;
  return hasAtLeast(text.length >= minMixedLength ? 1 : minDigits, /\p{N}/gu, text);
}

function hasAtLeast(count: number, pattern: RegExp, text: string): boolean {
  return text.matchAll(pattern).take(count).toArray().length === count;
}
