import { limitFailure } from '../../engine/guest/limit-failure.ts';
import type { GuestFailure, SandboxSettings } from '../../engine/ports.ts';
import type { ChildExit } from './guest-child.ts';
import type { LastWords } from './messages.ts';

export interface ExitCause {
  readonly failure: GuestFailure;
  /** What the child says it had computed; null when it said nothing. */
  readonly cpuMs: number | null;
}

/** Why a child ended in the midst of a run: the limit that explains it, if one does. */
export function explainExit({ how, lastWords }: ChildExit, limits: SandboxSettings): ExitCause {
  const words = readWords(lastWords);
  if (words) return { failure: limitFailure(words.limit, limits), cpuMs: words.cpuMs };
  // What V8 and isolated-vm write before they abort.
  if (/out[- ]of[- ]memory|heap limit/i.test(lastWords)) {
    return { failure: limitFailure('memory', limits), cpuMs: null };
  }
  const message = `The process the program ran in ended unexpectedly (${how}); the next run gets a new one`;
  return { failure: { kind: 'crashed', message }, cpuMs: null };
}

function readWords(text: string): LastWords | null {
  const last = text.slice(text.lastIndexOf('\n') + 1);
  try {
    const { limit, cpuMs } = JSON.parse(last) as Partial<LastWords>;
    const isKnown = (limit === 'memory' || limit === 'cpu') && typeof cpuMs === 'number';
    return isKnown ? { limit, cpuMs } : null;
  } catch {
    return null;
  }
}
