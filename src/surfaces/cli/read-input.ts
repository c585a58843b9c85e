import { readFile } from 'node:fs/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Terminal } from './command.ts';

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
