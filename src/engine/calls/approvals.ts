import type { FlowPorts } from '../flow-ports.ts';
import type { Asker } from '../people/standing-approvals.ts';
import type { Approval, JsonObject } from '../ports.ts';

export type Decision = 'approved' | 'rejected';

const DEFAULTS = {
  /** How often a waiting call looks into the store, for decisions made by another gateway. */
  pollMs: 1_000,
  /** Characters of calls kept at the most; the oldest go first, and can then only be rejected. */
  characters: 64 * 1024 * 1024,
};

/** Accepts decisions and lets calls wait for them. */
export interface Approvals {
  /** The calls that wait here, whole. */
  readonly calls: PendingCalls;
  /** Puts a question: stored as it may be, kept whole in memory until it is decided. */
  ask(approval: Approval, call: PendingCall): Promise<void>;
  /** False when it was decided before. An agent may only take back what it asked for. */
  settle(approval: Approval, decision: Decision, by: string, who?: 'person' | 'agent'): Promise<boolean>;
  /** Null when nobody decides in time. `onWait` is told again and again that it still waits. */
  decision(
    approvalId: string,
    waitMs: number,
    signal?: AbortSignal,
    onWait?: () => void,
  ): Promise<Decision | null>;
  /** Whether anybody may see a question meanwhile: a page is open here, or other gateways may have one. */
  isAttended(): boolean;
  /** Work of one key is done one after the other. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Questions that a client's dialogue shows now. */
  readonly inDialogue: Set<string>;
  /** Another gateway asked, or had an answer: emits the event, and callers that wait for it look again. */
  refresh(approvalId: string): Promise<void>;
}

type ApprovalPorts = Pick<FlowPorts, 'store' | 'clock' | 'crypto' | 'events' | 'logger' | 'sleep'>;

export function createApprovals(
  ports: ApprovalPorts,
  /** Other gateways use the same store. */
  isShared = false,
): Approvals {
  const { store, clock, events, logger, sleep } = ports;
  const waiting = new Map<string, Set<() => void>>();
  const wake = (id: string) => {
    for (const tell of waiting.get(id) ?? []) tell();
  };
  const calls = createPendingCalls();

  const decided = async (id: string): Promise<Decision | null> => {
    const state = (await store.approvals.get(id))?.state;
    return state === 'approved' || state === 'rejected' ? state : null;
  };

  const turns = new Map<string, Promise<unknown>>();

  return {
    calls,
    inTurn(key, work) {
      const mine = (turns.get(key) ?? Promise.resolve()).then(work, work).finally(() => {
        if (turns.get(key) === mine) turns.delete(key);
      });
      turns.set(key, mine);
      return mine;
    },
    inDialogue: new Set(),
    isAttended: () => isShared || events.isAttended,

    async ask(approval, call) {
      calls.keep(approval.id, call);
      await store.approvals.request(approval);
      const { id: approval_id, runId: run_id, node, reason } = approval;
      events.emit({ type: 'approval_requested', approval_id, run_id, node, reason });
      logger.log('warn', `${node} is waiting for a person: pml runs approve ${run_id}`, { run_id, reason });
    },

    async settle(approval, decision, by, who = 'person') {
      const isFirst = await store.approvals.settle(approval.id, decision, by, clock.now());
      calls.forget(approval.id);
      if (isFirst) {
        events.emit({
          type: 'approval_settled',
          approval_id: approval.id,
          run_id: approval.runId,
          state: decision,
          by,
        });
        const { id: approval_id, runId, node, argumentsHash: arguments_hash } = approval;
        const eventType = who === 'person' ? 'hil_decision' : 'ail_decision';
        await recordDecision(ports, {
          runId,
          eventType,
          data: { decision, by, node, approval_id, arguments_hash },
        });
      }
      wake(approval.id);
      return isFirst;
    },

    async decision(approvalId, waitMs, signal, onWait) {
      const until = clock.monotonic() + waitMs;
      for (;;) {
        const decision = await decided(approvalId);
        const left = until - clock.monotonic();
        if (decision || left <= 0 || signal?.aborted) return decision;
        onWait?.();
        const { promise: woken, resolve } = Promise.withResolvers<void>();
        const waiters = waiting.get(approvalId) ?? new Set();
        waiting.set(approvalId, waiters.add(resolve));
        await Promise.race([woken, sleep(Math.min(left, DEFAULTS.pollMs), signal).catch(() => {})]);
        waiters.delete(resolve);
        if (waiters.size === 0) waiting.delete(approvalId);
      }
    },

    async refresh(approvalId) {
      const approval = await store.approvals.get(approvalId);
      if (!approval) return;
      const { id: approval_id, runId: run_id, node, reason, state, settledBy } = approval;
      if (state === 'pending') events.emit({ type: 'approval_requested', approval_id, run_id, node, reason });
      else if (state !== 'used') {
        events.emit({ type: 'approval_settled', approval_id, run_id, state, by: settledBy ?? '' });
      }
      wake(approvalId);
    },
  };
}

/** What is asked about: exactly what will run. */
export interface PendingCall {
  readonly arguments: unknown;
  /** The code or capability, where it is not a tool. */
  readonly program?: { readonly code?: string; readonly capability?: string };
  readonly asker?: Asker;
  /** Names what the whole run does, where the call is part of a single run: the same again is the same question. */
  readonly work?: string;
}

/** Calls that wait for a person, whole; what is stored of them is redacted. */
export interface PendingCalls {
  keep(approvalId: string, call: PendingCall): void;
  get(approvalId: string): PendingCall | null;
  forget(approvalId: string): void;
}

function createPendingCalls(characters = DEFAULTS.characters): PendingCalls {
  // As text: what the caller does with its own afterwards changes nothing here.
  const kept = new Map<string, string>();
  let size = 0;
  const forget = (id: string) => {
    size -= kept.get(id)?.length ?? 0;
    kept.delete(id);
  };
  return {
    keep(id, call) {
      const text = JSON.stringify(call);
      kept.set(id, text);
      size += text.length;
      for (const oldest of kept.keys()) {
        if (size <= characters) break;
        forget(oldest);
      }
    },
    get(id) {
      const text = kept.get(id);
      return text === undefined ? null : JSON.parse(text);
    },
    forget,
  };
}

interface DecisionMade {
  readonly runId: string;
  /** `hil_decision`: a person's. `ail_decision`: the agent's. `speculation_start`: to call a tool ahead. */
  readonly eventType: 'hil_decision' | 'ail_decision' | 'speculation_start';
  readonly taskId?: string;
  readonly data: JsonObject;
}

/** Stores who decided what about a run. The decision holds even if it cannot be stored. */
export async function recordDecision(
  { store, clock, crypto, logger }: Pick<FlowPorts, 'store' | 'clock' | 'crypto' | 'logger'>,
  { runId, eventType, taskId, data }: DecisionMade,
): Promise<void> {
  const episode = {
    id: crypto.randomUuid(),
    workflowId: runId,
    eventType,
    taskId: taskId ?? null,
    timestamp: clock.now(),
    data,
  };
  try {
    await store.episodes.append([episode]);
  } catch (error) {
    logger.log('error', 'A decision cannot be stored', { run_id: runId, error: String(error) });
  }
}

/** Approvals of exact calls, each good for one. */
export interface Grants {
  take(argumentsHash: string): boolean;
}

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
