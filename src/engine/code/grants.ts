import type { Grants } from '../calls/call-tool.ts';

/** Approvals a run holds and has not used; a paused run takes them along. */
export interface RunGrants extends Grants {
  add(argumentsHash: string): void;
  has(argumentsHash: string): boolean;
  left(): readonly string[];
}

export function createGrants(held: readonly string[] = []): RunGrants {
  const left = [...held];
  return {
    add: (call) => void left.push(call),
    has: (call) => left.includes(call),
    left: () => left,
    take(call) {
      const at = left.indexOf(call);
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    },
  };
}
