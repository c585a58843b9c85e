/**
 * Nesting depth of code, measured from its characters alone: the parser is native and recursive, and a
 * hundred thousand parentheses would crash the whole process before an error could be reported.
 *
 * The count is never too low: every token that can contain another one counts until the construct it
 * belongs to has certainly ended.
 */
export type Nesting =
  | { readonly kind: 'fine' }
  | { readonly kind: 'deep'; readonly offset: number }
  /** Only a parser can decide whether this slash divides or begins a regular expression. */
  | { readonly kind: 'unclear'; readonly offset: number };

const DEFAULTS = {
  /** The parser was measured to take at most 0.5 kB of stack per token, and has at least 4 MB. */
  maxDepth: 3_000,
  /** Longest regular expression, in characters: its end is searched for from every slash that may begin one. */
  maxPattern: 2_000,
};

/** Matches the body of a regular expression that would read differently as code. */
const TELLING = /['"`()[\]{}]|\/[*/]/;
const ESCAPE = /\\u(?:\{[\da-f]*\}|[\da-f]{4})/iy;
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** An expression must follow these words, so no statement ends with them. */
const OPEN_ENDED = words(
  `abstract as assert asserts async await case catch class const declare default delete do else enum export
  extends finally for from function get if implements import in infer instanceof interface is keyof let module
  namespace new of override private protected public readonly return satisfies set static switch throw try type
  typeof unique using var void while with yield`,
);

/** A statement cannot begin with these words: they continue the previous one. */
const CONTINUING = words('as catch else extends finally implements in instanceof is of satisfies while');

/** After these words a slash begins a regular expression. */
const BEFORE_PATTERN = words('case delete do else in instanceof new return throw typeof');

/** After these words a slash may divide or begin a regular expression. */
const BEFORE_EITHER = words('await default extends of void yield');

/** The parentheses that follow are the head of a statement that continues; with `await`, only in `for await`. */
const HEADERS = words('await for if while with');

const LINE_ENDS = '\n\r\u2028\u2029';
const LAST_ASCII = 0x7f;
const SPACE = 0x20;
const POINT = 0x2e;
const BACKSLASH = 0x5c;

export function measureNesting(source: string, maxDepth = DEFAULTS.maxDepth): Nesting {
  // A token has at least one character.
  return source.length <= maxDepth ? { kind: 'fine' } : new Scanner(source, maxDepth).run();
}

interface Level {
  /** The character that ends this level; a backquote for the text of a template. */
  readonly closer: string;
  /** What the level is after it has ended. */
  readonly ended: Previous;
  /** Tokens that may contain the next one. */
  tokens: number;
  /** Open angle brackets that may be type arguments, in which a comma does not end anything. */
  angles: number;
}

type Previous = 'none' | 'word' | 'operand' | 'header' | 'brace' | 'operator' | 'either';

class Scanner {
  readonly #source: string;
  readonly #maxDepth: number;
  readonly #levels: Level[] = [{ closer: '', ended: 'none', tokens: 0, angles: 0 }];
  #offset = 0;
  #depth = 0;
  #previous: Previous = 'none';
  #wordStart = 0;
  #wordEnd = 0;
  #sign = '';
  #isAfterLineEnd = false;
  /** The previous statement has ended, unless the next word continues it. */
  #isEnded = false;

  constructor(source: string, maxDepth: number) {
    this.#source = source;
    this.#maxDepth = maxDepth;
  }

  run(): Nesting {
    while (this.#offset < this.#source.length) {
      const offset = this.#offset;
      const outcome = this.#next();
      if (outcome === 'unclear') return { kind: 'unclear', offset };
      // Where brackets do not match, the parser stops as well.
      if (outcome === 'over') break;
      if (this.#depth > this.#maxDepth) return { kind: 'deep', offset };
    }
    return { kind: 'fine' };
  }

  #next(): 'unclear' | 'over' | undefined {
    const code = this.#source.charCodeAt(this.#offset);
    if (code === SPACE) {
      this.#offset++;
      return;
    }
    if (isWordCode(code) || code === BACKSLASH) {
      this.#wordHere();
      return;
    }
    const char = this.#source[this.#offset]!;
    if (code < SPACE || code > LAST_ASCII) {
      if (LINE_ENDS.includes(char)) this.#isAfterLineEnd = true;
      this.#offset++;
    } else if (char === '/') return this.#slash();
    else if (char === "'" || char === '"') this.#string(char);
    else if (char === '`') this.#template();
    else if (char in CLOSERS) this.#open(char);
    else if (char === ')' || char === ']' || char === '}') return this.#close(char);
    else this.#punctuation(char);
  }

  #slash(): 'unclear' | undefined {
    const next = this.#source[this.#offset + 1];
    if (next === '/') {
      while (this.#offset < this.#source.length && !LINE_ENDS.includes(this.#source[this.#offset]!))
        this.#offset++;
      return;
    }
    if (next === '*') {
      const end = this.#source.indexOf('*/', this.#offset + 2);
      const to = end === -1 ? this.#source.length : end + 2;
      if (/[\n\r\u2028\u2029]/.test(this.#source.slice(this.#offset, to))) this.#isAfterLineEnd = true;
      this.#offset = to;
      return;
    }
    const reading = this.#readSlash();
    const length =
      reading === 'division' ? 0 : patternLength(this.#source, this.#offset, DEFAULTS.maxPattern);
    if (length === null) return 'unclear';
    const pattern = this.#source.slice(this.#offset, this.#offset + length);
    if (reading === 'unclear' && TELLING.test(pattern)) return 'unclear';
    if (reading === 'pattern' && length > 0) {
      this.#token('operand');
      this.#offset += length;
    } else this.#punctuation('/');
  }

  #readSlash(): 'division' | 'pattern' | 'unclear' {
    switch (this.#previous) {
      case 'none':
      case 'operator':
      case 'header':
        return 'pattern';
      case 'operand':
        return this.#isAfterLineEnd ? 'unclear' : 'division';
      case 'word':
        if (BEFORE_PATTERN.has(this.#word)) return 'pattern';
        return this.#isAfterLineEnd || BEFORE_EITHER.has(this.#word) ? 'unclear' : 'division';
      default:
        return 'unclear';
    }
  }

  #string(quote: string): void {
    let at = this.#offset + 1;
    while (at < this.#source.length) {
      const char = this.#source[at]!;
      if (char === '\\') at += this.#source.startsWith('\r\n', at + 1) ? 3 : 2;
      else if (char === quote || char === '\n' || char === '\r') break;
      else at++;
    }
    this.#token('operand');
    this.#offset = at + 1;
  }

  /** Reads from a backquote, or from the end of a substitution. */
  #template(): void {
    if (this.#source[this.#offset] === '`') {
      this.#token('operand');
      this.#push('`', 'operand');
    }
    let at = this.#offset + 1;
    while (at < this.#source.length) {
      const char = this.#source[at]!;
      if (char === '\\') at += 2;
      else if (char === '`') {
        this.#pop();
        this.#previous = 'operand';
        break;
      } else if (char === '$' && this.#source[at + 1] === '{') {
        this.#push('${', 'operand');
        this.#previous = 'operator';
        at++;
        break;
      } else at++;
    }
    this.#offset = at + 1;
    this.#isAfterLineEnd = false;
  }

  #open(char: string): void {
    const isHeader = char === '(' && this.#previous === 'word' && HEADERS.has(this.#word);
    const afterHeader = this.#word === 'await' ? 'either' : 'header';
    // A statement ends between two pairs of braces.
    if (char === '{' && this.#previous === 'brace') this.#isEnded = true;
    this.#token('operator');
    this.#sign = char;
    this.#push(CLOSERS[char]!, char === '{' ? 'brace' : isHeader ? afterHeader : 'operand');
    this.#offset++;
  }

  #close(char: string): 'over' | undefined {
    const level = this.#levels.at(-1)!;
    if (char === '}' && level.closer === '${') {
      this.#pop();
      this.#template();
      return;
    }
    if (level.closer !== char) return 'over';
    this.#pop();
    this.#previous = level.ended;
    this.#isAfterLineEnd = false;
    this.#isEnded = false;
    this.#offset++;
  }

  /** Reads a word or a number, generously: the parser reports malformed ones. */
  #wordHere(): void {
    const start = this.#offset;
    const isNumber = isDigit(this.#source.charCodeAt(start));
    while (this.#offset < this.#source.length) {
      const code = this.#source.charCodeAt(this.#offset);
      // The decimal point belongs to the number.
      if (isWordCode(code) || (isNumber && code === POINT)) this.#offset++;
      else if (code === BACKSLASH) this.#offset += this.#escapeLength();
      else break;
    }
    const isMember = this.#previous === 'operator' && (this.#sign === '.' || this.#sign === '#');
    if (this.#isEnded || this.#isAfterLineEnd || this.#previous === 'brace') this.#endBefore(start);
    this.#token('word');
    this.#wordStart = isMember ? this.#offset : start;
    this.#wordEnd = this.#offset;
  }

  /** The previous word; empty for the name of a member, which has no meaning here. */
  get #word(): string {
    return this.#source.slice(this.#wordStart, this.#wordEnd);
  }

  #escapeLength(): number {
    ESCAPE.lastIndex = this.#offset;
    return ESCAPE.exec(this.#source)?.[0].length ?? 1;
  }

  /** Whether a new statement begins with the word from `start` on. */
  #endBefore(start: number): void {
    if (CONTINUING.has(this.#source.slice(start, this.#offset))) {
      this.#isEnded = false;
      return;
    }
    const isClosed =
      this.#previous === 'operand' || (this.#previous === 'word' && !OPEN_ENDED.has(this.#word));
    if (this.#previous === 'brace' || (this.#isAfterLineEnd && isClosed)) this.#isEnded = true;
  }

  #punctuation(char: string): void {
    const next = this.#source[this.#offset + 1];
    const level = this.#levels.at(-1)!;
    // Three dots spread what follows; one dot leads to a member.
    this.#sign = char === '.' && this.#source[this.#offset - 1] === '.' ? '...' : char;
    this.#offset++;
    if (char === ';' || (char === ',' && level.angles === 0)) {
      this.#token('operator');
      this.#isEnded = true;
      if (char === ';') level.angles = 0;
      return;
    }
    if (char === '<') level.angles++;
    if (char === '>' && this.#source[this.#offset - 2] !== '=') level.angles = Math.max(0, level.angles - 1);
    const isArrow = char === '>' && this.#source[this.#offset - 2] === '=';
    if ((char === '+' || char === '-') && next === char) {
      this.#offset++;
      this.#token(this.#postfix());
    } else if (char === '!') this.#token(this.#postfix());
    else this.#token(char === '>' && !isArrow ? 'either' : 'operator');
  }

  /** What `!`, `++` or `--` is here: after an operand on the same line it is a postfix operator. */
  #postfix(): Previous {
    const reading = this.#readSlash();
    if (reading === 'pattern') return 'operator';
    return reading === 'division' ? 'operand' : 'either';
  }

  #token(kind: Previous): void {
    const level = this.#levels.at(-1)!;
    if (this.#isEnded) {
      this.#depth -= level.tokens;
      level.tokens = 0;
      level.angles = 0;
      this.#isEnded = false;
    }
    level.tokens++;
    this.#depth++;
    this.#previous = kind;
    this.#isAfterLineEnd = false;
  }

  #push(closer: string, ended: Previous): void {
    this.#levels.push({ closer, ended, tokens: 0, angles: 0 });
  }

  #pop(): void {
    this.#depth -= this.#levels.pop()?.tokens ?? 0;
  }
}

/** Words and characters of the language that show where expressions and statements end. */

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Characters of names and numbers; beyond ASCII, everything except spaces is allowed. */
function isWordCode(code: number): boolean {
  if (code > LAST_ASCII) return !/\s/.test(String.fromCharCode(code));
  const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return isLetter || isDigit(code) || code === 0x5f || code === 0x24;
}

/**
 * Length of the regular expression that would begin at `start`: 0 if there is none, null if it is too long
 * to find its end.
 */
function patternLength(source: string, start: number, maxLength: number): number | null {
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
