import type { Analysis } from './analysis.ts';
import type { Value } from './value.ts';

/** `return value`: an async function is over when what it returns has settled. */
export function leaveFunction(a: Analysis, value: Value): void {
  a.frame.returns.push(value);
  if (!a.flow.isAlive) return;
  if (a.frame.isAsync && value.kind === 'promise') a.flow.settle(value.begins, value.ends);
  a.frame.exits.push(a.flow.frontier);
  a.frame.left.push(a.memory.since(a.frame.depth));
  a.flow.isAlive = false;
}
