import { printable } from '../../core/vocabulary/printable.ts';
import type { Approval } from '../../engine/ports.ts';

/** The call as it would be made, and what became of the question. */
export function askedFor(approval: Approval): string {
  const { node, reason, state, settledBy } = approval;
  const answer = state === 'pending' ? 'waits for you' : `${state} by ${settledBy ?? 'somebody'}`;
  const args = JSON.stringify(approval.arguments, null, 2).split('\n');
  return [`${node}  (${answer}; ${reason})`, ...args].map((line) => `  ${printable(line)}`).join('\n');
}
