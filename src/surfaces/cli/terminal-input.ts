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
