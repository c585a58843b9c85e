import type { GuestOutcome, SandboxSettings } from '../../src/engine/ports.ts';

/** One attack. Its canary shows whether it reached something. */
export interface HostileCase {
  readonly name: string;
  /** A program's body. */
  readonly code: string;
  /** Bodies of the programs it may call. */
  readonly capabilities?: Readonly<Record<string, string>>;
  readonly canary: Canary;
  /** Reaches its aim when it is run in a plain `vm` context. */
  readonly bitesOnVm: boolean;
}

export type Canary =
  /** It returns what it got hold of; nothing is `null`, `false`, `''`, and what holds no more. */
  | { readonly kind: 'loot' }
  /** It must not live to return. */
  | { readonly kind: 'ended'; readonly by: 'limit' | 'any' }
  /** What comes back of it (results, errors, console) is small. */
  | { readonly kind: 'bounded' }
  /** The host saw these calls, each from the frame it was made in, and the program returned this. */
  | { readonly kind: 'truth'; readonly calls: readonly SeenCall[]; readonly value: unknown };

/** `server:tool`, and the frame: 0 is the program, capabilities count from 1 in the order they are entered. */
export type SeenCall = readonly [frame: number, call: string, args?: unknown];

/** What an attack came to, in whichever sandbox. */
export interface Aftermath {
  /** Null when the sandbox itself hung or died. */
  readonly outcome: GuestOutcome | null;
  readonly calls: readonly SeenCall[];
  /** Sites that were reported. */
  readonly marks: readonly number[];
}

/** Small enough for bombs to go off quickly, large enough for all else. */
export const HOSTILE_LIMITS: SandboxSettings = {
  memoryMb: 32,
  cpuMs: 200,
  wallMs: 2_500,
  callsInFlight: 4,
  callsTotal: 50,
  argumentBytes: 10_000,
  resultBytes: 20_000,
  consoleBytes: 5_000,
};

const BOUND = 40_000;

/** Why the attack counts as having reached something; null when it was held. */
export function reached({ canary }: HostileCase, { outcome, calls, marks }: Aftermath): string | null {
  if (!outcome) return 'the sandbox hung or died';
  const { console, ...rest } = outcome;
  const size = console.reduce((sum, { text }) => sum + text.length + 1, JSON.stringify([rest, calls]).length);
  if (size > BOUND) return `${size} characters came out`;
  if (marks.length > 0) return `marks were forged: ${marks.join()}`;
  switch (canary.kind) {
    case 'loot':
      return outcome.ok && !isNothing(outcome.value) ? `it got ${JSON.stringify(outcome.value)}` : null;
    case 'ended':
      if (outcome.ok) return `it lived to return ${JSON.stringify(outcome.value)}`;
      return canary.by === 'limit' && outcome.error.kind !== 'limit'
        ? `it ended as ${outcome.error.kind}`
        : null;
    case 'bounded':
      return null;
    case 'truth': {
      const seen = JSON.stringify([calls, outcome.ok ? outcome.value : outcome.error]);
      const told = JSON.stringify([canary.calls, canary.value]);
      return seen === told ? null : `instead of ${told} it was ${seen}`;
    }
  }
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isNothing);
  return value === null || value === false || value === '';
}
