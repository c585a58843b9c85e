import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../engine/ports.ts';
import type { Terminal } from './command.ts';

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a positive number.');
  return count;
}

/** `2026-11-01` is midnight UTC. */
export function parseDate(text: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d\d/.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('Write it as 2026-11-01 or 2026-11-01T12:30:00Z.');
}

/** `NAME=value`, given as often as needed. */
export function parsePair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write it as NAME=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** `a:b,c:d` */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** `{"path": "notes"}` */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Falls through to the message below: text that is not JSON is not an object either.
  }
  throw new InvalidArgumentError('It must be a JSON object, like \'{"path": "notes"}\'.');
}

/** A text file a command is given; - is stdin. */
export async function readInput(
  file: string,
  terminal: Terminal,
  holds: string,
): Promise<{ readonly file: string; readonly text: string }> {
  if (file === '-') return { file: 'stdin', text: (await Array.fromAsync(terminal.input())).join('') };
  try {
    return { file, text: await readFile(file, 'utf8') };
  } catch (cause) {
    throw new PmlError('not_found', `Cannot read ${file}: ${(cause as Error).message}`, {
      hint: `Name a file with ${holds}, or - to read it from stdin.`,
      cause,
    });
  }
}

/** Whether a person says yes, now or with `--yes`; without either there is nobody to decide. */
export async function confirmed(
  terminal: Terminal,
  question: string,
  options: { readonly yes?: boolean },
): Promise<boolean> {
  if (options.yes) return true;
  const answer = await terminal.confirm(question);
  if (answer !== null) return answer;
  throw new PmlError('usage', 'Nothing was changed: this is not a terminal, so nobody can confirm', {
    hint: 'Run the command in a terminal, or add --yes.',
  });
}
