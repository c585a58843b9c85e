import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../engine/ports.ts';
import type { Terminal } from './command.ts';

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidArgumentError('Must be a positive whole number.');
  return count;
}

/** `2026-11-01` is midnight UTC. */
export function parseDate(text: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d\d/.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('Use the form 2026-11-01 or 2026-11-01T12:30:00Z.');
}

/** `NAME=value`; may be repeated. */
export function parsePair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use the form NAME=value.');
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
    // Continues to the error below.
  }
  throw new InvalidArgumentError('Must be a JSON object, such as \'{"path": "notes"}\'.');
}

/** The text file a command was given; - is stdin. */
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
      hint: `Give a file with ${holds}, or - to read from stdin.`,
      cause,
    });
  }
}

/** Whether the user confirms, interactively or with `--yes`; fails if neither is possible. */
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

export function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}

/** Added to every command, so that they can follow the command's name. */
export function withGlobalOptions(command: Command): void {
  if (command.commands.length > 0) return;
  const own = new Set(command.options.map(({ long }) => long));
  command.option('--config <file>', 'configuration file (PML_CONFIG)');
  if (!own.has('--data')) command.option('--data <dir>', 'data folder (PML_DATA, default ~/.pml)');
  command.option('--json', 'print the result as JSON; everything else goes to stderr');
}
