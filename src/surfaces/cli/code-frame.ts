import { printable } from '../../core/vocabulary/text.ts';

const DEFAULTS = {
  /** Characters of a long line that are shown on each side of the place. */
  around: 60,
};

/** The line of the source with a caret under the place; empty where there is no such line. */
export function codeFrame(source: string, line: number, column: number): string {
  const text = source.split(/\r?\n/)[line - 1];
  if (text === undefined) return '';
  const at = Math.min(column - 1, text.length);
  const from = Math.max(0, at - DEFAULTS.around);
  const before = `${from > 0 ? '…' : ''}${shown(text.slice(from, at))}`;
  const after = shown(text.slice(at, at + DEFAULTS.around));
  const margin = ' '.repeat(String(line).length);
  return `  ${line} | ${before}${after}\n  ${margin} | ${' '.repeat(before.length)}^\n`;
}

/** A tab would be as wide as the terminal likes. */
function shown(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}
