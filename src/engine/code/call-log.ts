import { canonicalJson } from '../../core/policy/call-hash.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { GuestReply, JsonObject } from '../ports.ts';

/** A call that was answered before its run was paused, as stored. */
export interface FinishedCall {
  /** Which call of which program it was: `#0`, `#0/#2`. The same on every run of the same code. */
  readonly key: string;
  readonly node: string;
  readonly argumentsHash: string;
  readonly reply: GuestReply;
  /** False when redaction took something away: the reply is not what the program saw. */
  readonly isWhole: boolean;
}

/** A call that a program is about to make. */
export interface CallToMake {
  readonly key: string;
  readonly node: string;
  readonly args: unknown;
  /** Trace id of the capability it is made in; null in the program itself. */
  readonly parent: string | null;
  readonly isRepeatable: boolean;
}

/**
 * What a run was told so far. A resumed run is told the same again, in the same order, instead of
 * calling twice; where its calls differ from the first time it fails.
 */
export interface CallLog {
  /** The earlier reply to this very call; null when it has to be made. */
  recall(call: CallToMake): Promise<GuestReply | null>;
  /** What a call is to be made with instead of what the program gives it. */
  editedArguments?(key: string): JsonObject | undefined;
  /** When the program was told that it may enter a capability, the first time; undefined where that is not known. */
  enteredAt?(key: string): number | undefined;
  /** What reading an earlier result gave, the first time; undefined where that is not known. */
  readAgain?(key: string, id: string): GuestReply | undefined;
  /** `isKept`: false for a tool of which no results are recorded. */
  keep(key: string, node: string, args: unknown, reply: GuestReply, isKept: boolean): void;
  /** Everything answered so far, in the order of the answers, redacted. */
  finished(): readonly FinishedCall[];
}

export function createCallLog(
  { crypto, redact }: Pick<FlowPorts, 'crypto' | 'redact'>,
  earlier: readonly FinishedCall[] = [],
): CallLog {
  const known = new Map(earlier.map((call, order) => [call.key, { ...call, order }]));
  /** Hashed when it is asked for, which is when the run has to wait. */
  const made: (Pick<FinishedCall, 'key' | 'node' | 'reply'> & {
    readonly args: unknown;
    readonly isKept: boolean;
  })[] = [];
  const turns = createTurns();
  const hash = (args: unknown) => crypto.sha256(canonicalJson(args ?? {}));

  return {
    async recall({ key, node, args, isRepeatable }) {
      const call = known.get(key);
      if (!call) return null;
      if (call.node !== node || call.argumentsHash !== hash(args)) throw differs(call, node);
      if (!call.isWhole && !isRepeatable) throw notKept(call);
      await turns.mine(call.order);
      return call.isWhole ? call.reply : null;
    },
    keep(key, node, args, reply, isKept) {
      made.push({ key, node, args, reply, isKept });
    },
    finished: () =>
      made.map(({ isKept, args, ...rest }) => {
        const call = { ...rest, argumentsHash: hash(args) };
        if (!isKept) return { ...call, reply: NOT_KEPT, isWhole: false };
        const reply = redact(call.reply) as GuestReply;
        return { ...call, reply, isWhole: canonicalJson(reply) === canonicalJson(call.reply) };
      }),
  };
}

const NOT_KEPT: GuestReply = { ok: true, value: null, at: 0 };

/** Lets callers through in order of their numbers, regardless of the order in which they arrive. */
function createTurns() {
  const waiting = new Map<number, () => void>();
  let next = 0;
  return {
    async mine(turn: number): Promise<void> {
      if (turn !== next) await new Promise<void>((resolve) => waiting.set(turn, resolve));
      next = turn + 1;
      waiting.get(next)?.();
    },
  };
}

function differs(before: FinishedCall, node: string): PmlError {
  const what =
    before.node === node ? `${node} with different arguments` : `${node} instead of ${before.node}`;
  return new PmlError('replay_differs', `The resumed run called ${what}`, {
    hint: 'The code must make the same calls in every run. Run it again from the start.',
  });
}

function notKept({ node }: FinishedCall): PmlError {
  return new PmlError('replay_differs', `The result of ${node} was too large or too sensitive to store`, {
    hint: 'The run cannot be resumed. Run the code again; the approval still holds for the call.',
  });
}
