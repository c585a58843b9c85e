import type { JSONPath } from 'jsonc-parser';
import { createRedactor, type Redactor } from '../../core/tracing/redact.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

interface Problem {
  readonly offset: number;
  readonly path: JSONPath;
  readonly message: string;
}

/**
 * Everything wrong with one file, told at once. Only keys are shown, never values, and a secret that
 * somebody pasted in the place of a key is redacted.
 */
export class ConfigProblems {
  readonly #file: string;
  readonly #text: string;
  readonly #problems: Problem[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /** The message holds no text of the file; `path` is what it is about, empty for the whole. */
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
