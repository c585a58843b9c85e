import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import {
  type AnsweredCall,
  LOOP_GAP_MS,
  type Loop,
  loopOf,
  withAnswered,
} from '../../core/policy/repeated-calls.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal, UsageLimit, UsageUnit } from '../../core/vocabulary/principal.ts';
import { weighJson } from '../../core/vocabulary/read-wire.ts';
import { estimateTokens } from '../../core/vocabulary/text.ts';
import type { Caller } from '../caller.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { limitsOf, loopsOf } from '../people/roles.ts';
import { type Usage, windowEnd } from '../ports.ts';

const DEFAULTS = {
  /** Calls at once that a fresh budget of tokens or seconds has room for: what a call takes is known when it is over. */
  atOnce: 8,
  /** How long a call waits for those under way to give back what they do not need, in milliseconds. */
  patienceMs: 60_000,
  /** Keys and sessions whose last calls are remembered. */
  remembered: 1_000,
  /** Levels of arguments or of an answer that are compared; what goes deeper is compared by its size. */
  maxDepth: 500,
  /** How often old windows are forgotten, and how old they are then, in milliseconds. */
  pruneMs: 3_600_000,
  keptMs: 2 * 86_400_000,
};

/** A call that may be made. `end` is always called; without an answer the call does not count. */
export interface Pass {
  /** `ms`: how long the server took; a person who had to decide first took none of the key's time. */
  answered(answer: unknown, ms: number): void;
  end(): Promise<void>;
}

/** Holds every call to the limits of its key. */
export interface Admissions {
  /** An error says what stands against the call, and when it may be made. */
  admit(
    caller: Pick<Caller, 'who' | 'sessionId' | 'signal'>,
    tool: ToolId,
    args: unknown,
  ): Promise<Pass | ErrorShape>;
}

const FREE: Pass = { answered() {}, end: async () => {} };

/** Calls of a key in progress on this gateway. */
interface UnderWay {
  calls: number;
  /** Those who ask come one after the other, so that each knows what the others were given. */
  turn: Promise<unknown>;
  /** Told when a call ends. */
  readonly waiting: Set<() => void>;
}

export function createAdmissions({
  store,
  clock,
  crypto,
  logger,
  sleep,
}: Pick<FlowPorts, 'store' | 'clock' | 'crypto' | 'logger' | 'sleep'>): Admissions {
  const accounts = new Map<string, UnderWay>();
  const past = new LRUCache<string, readonly AnsweredCall[]>({ max: DEFAULTS.remembered });
  /** Limits that are known to be reached, by window: each is written down once. */
  const told = new LRUCache<string, true>({ max: DEFAULTS.remembered });
  let prunedAt = Number.NEGATIVE_INFINITY;

  const prune = () => {
    if (clock.monotonic() - prunedAt < DEFAULTS.pruneMs) return;
    prunedAt = clock.monotonic();
    store.usage
      .prune(new Date(clock.now().getTime() - DEFAULTS.keptMs))
      .catch((error: unknown) => logger.log('warn', 'Old figures stay', { error: String(error) }));
  };

  const tellReached = async (who: Principal, account: string, limit: UsageLimit, at: Date) => {
    const { unit, per, most } = limit;
    const name = `${account} ${unit} ${per} ${windowEnd(per, at).getTime()}`;
    if (told.has(name)) return;
    told.set(name, true);
    const details = { name: who.name, user: who.user, unit, per, most };
    await store.audit.append({
      at,
      actor: who.name,
      action: 'limit_reached',
      subject: account,
      hash: null,
      details,
    });
  };

  /** Resolves when a call ends, when this one is given up, or after so long. */
  const oneEnds = async ({ waiting }: UnderWay, ms: number, signal: AbortSignal | undefined) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const over = new AbortController();
    const late = sleep(ms, AbortSignal.any([over.signal, ...(signal ? [signal] : [])])).catch(() => {});
    await Promise.race([promise, late]);
    waiting.delete(resolve);
    over.abort();
  };

  /** Reserves before the call; null when there is room, else the limit in the way. */
  const reserve = async (
    account: string,
    reservation: Reservation,
    signal: AbortSignal | undefined,
  ): Promise<UsageLimit | null> => {
    const own = accounts.get(account) ?? { calls: 0, turn: Promise.resolve(), waiting: new Set() };
    accounts.set(account, own);
    const until = clock.monotonic() + DEFAULTS.patienceMs;
    const attempt = async () => {
      for (;;) {
        const isAlone = own.calls === 0;
        const limit = await store.usage.reserve({ keyId: account, ...reservation });
        if (!limit) {
          own.calls++;
          return null;
        }
        const mayEase = !isAlone && limit.unit !== 'calls';
        const left = until - clock.monotonic();
        if (!mayEase || left <= 0 || signal?.aborted) return limit;
        await oneEnds(own, left, signal);
      }
    };
    const mine = own.turn.then(attempt, attempt);
    own.turn = mine.catch(() => {});
    return await mine;
  };

  const giveBack = async (account: string, reservation: Reservation, used: Usage | null): Promise<void> => {
    const { at, limits, amount } = reservation;
    const own = accounts.get(account)!;
    try {
      const units: Record<UsageUnit, number> = {
        calls: used ? 0 : -amount.calls,
        // Only what is limited was reserved, and only that is counted.
        tokens: hasUnit(limits, 'tokens') ? (used?.tokens ?? 0) - amount.tokens : 0,
        seconds: hasUnit(limits, 'seconds') ? (used?.seconds ?? 0) - amount.seconds : 0,
      };
      const spans = limits.map(({ per }) => per);
      if (Object.values(units).some((unit) => unit !== 0))
        await store.usage.correct({ keyId: account, at, amount: units }, spans);
    } catch (error) {
      // What was reserved stays counted, which is too much rather than too little.
      logger.log('warn', 'The usage of a call could not be recorded', { error: String(error) });
    } finally {
      own.calls--;
      for (const tell of own.waiting) tell();
    }
  };

  return {
    async admit({ who, sessionId, signal }, tool, args) {
      const limits = limitsOf(who?.scope);
      const most = loopsOf(who?.scope);
      if (!who || (limits.length === 0 && most === null)) return FREE;
      const account = who.keyId ?? `user ${who.user}`;
      const startedAt = clock.monotonic();
      // By session, and by key: neither several sessions at once nor a new one for each call hide a loop.
      const tracks = most === null ? [] : [account, `${account} ${sessionId}`];
      const call = most === null ? '' : crypto.sha256(`${tool} ${comparable(args)}`);
      for (const track of tracks) {
        const loop = loopOf(past.get(track) ?? [], { call, at: startedAt }, most!);
        if (loop) return repeated(tool, loop);
      }
      const reservation: Reservation = { at: clock.now(), limits, amount: reserved(limits, args) };
      if (limits.length > 0) {
        prune();
        try {
          const limit = await reserve(account, reservation, signal);
          if (limit) {
            await tellReached(who, account, limit, reservation.at);
            return usedUp(who, limit, clock.now());
          }
        } catch (error) {
          return PmlError.from(error).toShape();
        }
      }
      let answer: { readonly text: string; readonly used: Usage } | null = null;
      return {
        answered(given, ms) {
          const { characters } = weighJson([args, given]);
          const used = { calls: 1, tokens: estimateTokens(characters), seconds: ms / 1_000 };
          answer = { text: most === null ? '' : comparable(given), used };
        },
        async end() {
          if (answer && most !== null) {
            const made = { call, answer: crypto.sha256(answer.text), at: clock.monotonic() };
            for (const track of tracks) past.set(track, withAnswered(past.get(track) ?? [], made));
          }
          if (limits.length > 0) await giveBack(account, reservation, answer?.used ?? null);
        },
      };
    },
  };
}

interface Reservation {
  readonly at: Date;
  readonly limits: readonly UsageLimit[];
  readonly amount: Usage;
}

function hasUnit(limits: readonly UsageLimit[], unit: UsageUnit): boolean {
  return limits.some((limit) => limit.unit === unit);
}

/** A share of the smallest limit; of tokens at least what is sent. */
function reserved(limits: readonly UsageLimit[], args: unknown): Usage {
  const share = (unit: UsageUnit) => {
    const all = limits.filter((limit) => limit.unit === unit).map(({ most }) => most);
    return all.length === 0 ? 0 : Math.min(...all) / DEFAULTS.atOnce;
  };
  const sent = hasUnit(limits, 'tokens') ? estimateTokens(weighJson(args).characters) : 0;
  return { calls: 1, tokens: Math.max(share('tokens'), sent), seconds: share('seconds') };
}

/** The same text for the same value, regardless of key order. */
function comparable(value: unknown): string {
  const { depth, characters } = weighJson(value);
  return depth > DEFAULTS.maxDepth ? `deep ${depth} ${characters}` : canonicalJson(value);
}

function usedUp({ name }: Principal, { unit, per, most }: UsageLimit, now: Date): ErrorShape {
  const free = windowEnd(per, now);
  const seconds = Math.ceil((free.getTime() - now.getTime()) / 1_000);
  const moment = free.toISOString().replace('T', ' ').slice(0, 19);
  return {
    code: 'rate_limited',
    message: `Key "${name}" has used up its limit of ${most} ${unit} per ${per}; it is free again at ${moment} UTC, in ${seconds} s`,
    hint: 'Work with what you have, and say what is missing. Do not repeat the call before that time. The owner of the key can raise the limit.',
  };
}

function repeated(tool: ToolId, { period, rounds, isSameAnswer }: Loop): ErrorShape {
  const what = period === 1 ? 'the same call' : `the same ${period} calls`;
  const answers = isSameAnswer
    ? 'and gave the same answers'
    : 'which is too often even where the answers differ';
  return {
    code: 'rate_limited',
    message: `${tool} would continue a loop: ${what} came ${rounds} times in a row, ${answers}`,
    hint: `Do something else: change the arguments, use another tool, or continue with the answer you have. To look again later, wait ${LOOP_GAP_MS / 1_000} s before the same call.`,
  };
}
