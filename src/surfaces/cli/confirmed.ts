import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Terminal } from './command.ts';

/** Whether a person says yes, now or with `--yes`; without either there is nobody to decide. */
export async function confirmed(
  terminal: Terminal,
  question: string,
  options: { readonly yes?: boolean },
): Promise<boolean> {
  if (options.yes) return true;
  const answer = await terminal.confirm(question);
  if (answer !== null) return answer;
  throw new PmlError('usage', 'Nothing was changed: there is nobody to ask', {
    hint: 'Look at it with the same command in a terminal, or add --yes.',
  });
}
