import {
  createScanner,
  findNodeAtLocation,
  type JSONPath,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { createRedactor, type Redactor } from '../../core/tracing/redact.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

const DEFAULTS = {
  /** Levels of lists and objects; a deeper file could overflow the reader's stack. */
  depth: 100,
};

/** Token kinds of jsonc-parser's scanner. Its const enum does not exist at run time. */
const OPENS = new Set([1, 3]);
const CLOSES = new Set([2, 4]);
const END = 17;

/** A parsed configuration file with positions. */
export interface SourceText {
  readonly text: string;
  readonly root: Node;
}

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: 'unknown word; put text in double quotes',
  InvalidNumberFormat: 'invalid number',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a ":" is missing',
  CommaExpected: 'a "," is missing',
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: 'the file should end here',
  UnexpectedEndOfComment: 'unclosed comment',
  UnexpectedEndOfString: 'unclosed string',
  UnexpectedEndOfNumber: 'incomplete number',
  InvalidUnicode: 'a \\u that is not followed by four hex digits',
  InvalidEscapeCharacter: 'an unknown escape after "\\"',
  InvalidCharacter: 'a character that is not allowed in a string; write it as \\n, \\t or \\u0000',
};

/** Parses JSON with comments and trailing commas. Throws one error with all problems. */
export function parseSource(file: string, text: string): SourceText {
  const problems = new ConfigProblems(file, text);
  if (text.trim() === '') problems.add(0, [], 'the file is empty; write {} to use the defaults');
  const beyond = tooDeepAt(text);
  if (beyond !== null) problems.add(beyond, [], `nested too deeply; the maximum is ${DEFAULTS.depth} levels`);
  problems.throwIfAny();
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  let lastLine = 0;
  for (const { error, offset } of errors) {
    // One mistake causes several parser errors; the first on a line is the informative one.
    const { line } = problems.position(offset);
    if (line === lastLine) continue;
    lastLine = line;
    problems.add(offset, [], `not JSON: ${SYNTAX[printParseErrorCode(error)] ?? 'cannot be parsed'}`);
  }
  if (errors.length === 0 && root?.type !== 'object') problems.add(0, [], 'must be an object: { … }');
  problems.throwIfAny();
  return { text, root: root! };
}

/** Offset at which the nesting exceeds the limit; null if it does not. */
function tooDeepAt(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind: number = scanner.scan(); kind !== END; kind = scanner.scan()) {
    if (OPENS.has(kind) && ++depth > DEFAULTS.depth) return scanner.getTokenOffset();
    if (CLOSES.has(kind)) depth -= 1;
  }
  return null;
}

/** Offset of the value at a path, or of its closest ancestor in the file. */
export function locate({ root }: SourceText, path: JSONPath): number {
  for (let length = path.length; length >= 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node) return node.offset;
  }
  return root.offset;
}

/** Offset of the key at the end of a path. */
export function locateKey(source: SourceText, path: JSONPath): number {
  const node = findNodeAtLocation(source.root, path);
  return node?.parent?.type === 'property' ? node.parent.offset : locate(source, path);
}

/** Key and value of each property of an object, in the order of the file. */
export function propertiesOf(node: Node): { key: string; keyNode: Node; value: Node | undefined }[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [keyNode, value] = [] }) =>
    keyNode ? [{ key: String(keyNode.value), keyNode, value }] : [],
  );
}

interface Problem {
  readonly offset: number;
  readonly path: JSONPath;
  readonly message: string;
}

/**
 * All problems of a file, reported at once. Shows only keys, never values, and redacts a secret that was
 * pasted as a key.
 */
export class ConfigProblems {
  readonly #file: string;
  readonly #text: string;
  readonly #problems: Problem[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /** `message` contains no text of the file; `path` is its subject, empty for the whole file. */
  add(offset: number, path: JSONPath, message: string): void {
    this.#problems.push({ offset, path, message });
  }

  /** Counted from 1. */
  position(offset: number): { line: number; column: number } {
    const before = this.#text.slice(0, offset).split(/\r\n|\r|\n/);
    return { line: before.length, column: before.at(-1)!.length + 1 };
  }

  throwIfAny(secrets: readonly string[] = []): void {
    if (this.#problems.length === 0) return;
    const redact = createRedactor(secrets);
    const lines = this.#problems
      .toSorted((a, b) => a.offset - b.offset)
      .map(({ offset, path, message }) => {
        const { line, column } = this.position(offset);
        const subject = path.length === 0 ? '' : `${show(path, redact)} `;
        return `${this.#file}:${line}:${column} ${subject}${message}`;
      });
    const message =
      lines.length === 1 ? lines[0]! : `${this.#file} has ${lines.length} problems:\n${lines.join('\n')}`;
    throw new PmlError('config_invalid', message, {
      hint: 'Fix the file, then check it with: pml doctor',
    });
  }
}

/** `mcpServers.github.args[0]` */
function show(path: JSONPath, redact: Redactor): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      const key = redact(step);
      return `${index === 0 ? '' : '.'}${/^[\w$:*-]+$/.test(key) ? key : JSON.stringify(key)}`;
    })
    .join('');
}
