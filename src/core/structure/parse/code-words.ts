/** Words and characters of the language that show where expressions and statements end. */

/** An expression must follow these words, so no statement ends with them. */
export const OPEN_ENDED = words(
  `abstract as assert asserts async await case catch class const declare default delete do else enum export
  extends finally for from function get if implements import in infer instanceof interface is keyof let module
  namespace new of override private protected public readonly return satisfies set static switch throw try type
  typeof unique using var void while with yield`,
);

/** A statement cannot begin with these words: they continue the previous one. */
export const CONTINUING = words(
  'as catch else extends finally implements in instanceof is of satisfies while',
);

/** After these words a slash begins a regular expression. */
export const BEFORE_PATTERN = words('case delete do else in instanceof new return throw typeof');

/** After these words a slash may divide or begin a regular expression. */
export const BEFORE_EITHER = words('await default extends of void yield');

/** The parentheses that follow are the head of a statement that continues; with `await`, only in `for await`. */
export const HEADERS = words('await for if while with');

export const LINE_ENDS = '\n\r\u2028\u2029';
export const LAST_ASCII = 0x7f;
export const SPACE = 0x20;
export const POINT = 0x2e;
export const BACKSLASH = 0x5c;

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Characters of names and numbers; beyond ASCII, everything except spaces is allowed. */
export function isWordCode(code: number): boolean {
  if (code > LAST_ASCII) return !/\s/.test(String.fromCharCode(code));
  const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return isLetter || isDigit(code) || code === 0x5f || code === 0x24;
}

/**
 * Length of the regular expression that would begin at `start`: 0 if there is none, null if it is too long
 * to find its end.
 */
export function patternLength(source: string, start: number, maxLength: number): number | null {
  let isInClass = false;
  for (let at = start + 1; at < source.length; at++) {
    if (at - start > maxLength) return null;
    const char = source[at]!;
    if (LINE_ENDS.includes(char)) return 0;
    if (char === '\\') at++;
    else if (char === '[') isInClass = true;
    else if (char === ']') isInClass = false;
    else if (char === '/' && !isInClass) {
      let end = at + 1;
      while (isWordCode(source.charCodeAt(end))) end++;
      return end - start;
    }
  }
  return 0;
}
