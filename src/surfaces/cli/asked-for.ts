import { printable } from '../../core/vocabulary/text.ts';
import type { DefinitionChange, ShownApproval } from '../../engine/runs/pending-runs.ts';

/** The call as it would be made, and what became of the question. */
export function askedFor(approval: ShownApproval): string {
  const { node, reason, state, settledBy, isExact, program, changes = [] } = approval;
  const answer = state === 'pending' ? 'waits for you' : `${state} by ${settledBy ?? 'somebody'}`;
  const args = JSON.stringify(approval.arguments, null, 2).split('\n');
  return [
    `${node}  (${answer}; ${reason})`,
    ...args,
    ...Object.entries(program ?? {}).flatMap(([kind, text]) => [`${kind}:`, ...text.split('\n')]),
    ...changes.flatMap(changeLines),
    ...(isExact === false ? ['These are not all of its arguments: it can only be rejected here.'] : []),
  ]
    .map((line) => `  ${printable(line)}`)
    .join('\n');
}

/** One field as it was accepted and as it is now, in full. */
export function changeLines({ field, before, after }: DefinitionChange): string[] {
  return [`its ${field} was accepted as:`, ...linesOf(before), `its ${field} is now:`, ...linesOf(after)];
}

function linesOf(value: unknown): string[] {
  return value === undefined ? ['(not there)'] : JSON.stringify(value, null, 2).split('\n');
}
