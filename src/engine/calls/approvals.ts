import type { FlowPorts } from '../flow-ports.ts';
import type { Approval } from '../ports.ts';
import { createPendingCalls, type PendingCall, type PendingCalls } from './pending-calls.ts';
import { recordDecision } from './record-decision.ts';

export type Decision = 'approved' | 'rejected';

const DEFAULTS = {
  /** How often a waiting call looks into the store, for decisions made by another gateway. */
  pollMs: 1_000,
};

/** Where decisions are handed in and waited for. */
export interface Approvals {
  /** The calls that wait here, whole. */
  readonly calls: PendingCalls;
  /** Puts a question: stored as it may be, kept whole in memory until it is decided. */
  ask(approval: Approval, call: PendingCall): Promise<void>;
  /** False when it was decided before. An agent may only take back what it asked for. */
  settle(approval: Approval, decision: Decision, by: string, who?: 'person' | 'agent'): Promise<boolean>;
  /** Null when nobody decides in time. */
  decision(approvalId: string, waitMs: number, signal?: AbortSignal): Promise<Decision | null>;
  /** Another gateway asked, or had an answer: tells of it, and whoever waits for it looks again. */
  refresh(approvalId: string): Promise<void>;
}

type ApprovalPorts = Pick<FlowPorts, 'store' | 'clock' | 'crypto' | 'events' | 'logger' | 'sleep'>;

export function createApprovals(ports: ApprovalPorts): Approvals {
  const { store, clock, events, sleep } = ports;
  const waiting = new Map<string, () => void>();
  const calls = createPendingCalls();

  const decided = async (id: string): Promise<Decision | null> => {
    const state = (await store.approvals.get(id))?.state;
    return state === 'approved' || state === 'rejected' ? state : null;
  };

  return {
    calls,

    async ask(approval, call) {
      calls.keep(approval.id, call);
      await store.approvals.request(approval);
      const { id: approval_id, runId: run_id, node, reason } = approval;
      events.emit({ type: 'approval_requested', approval_id, run_id, node, reason });
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
      waiting.get(approval.id)?.();
      return isFirst;
    },

    async decision(approvalId, waitMs, signal) {
      const until = clock.monotonic() + waitMs;
      for (;;) {
        const decision = await decided(approvalId);
        const left = until - clock.monotonic();
        if (decision || left <= 0 || signal?.aborted) return decision;
        const woken = new Promise<void>((resolve) => waiting.set(approvalId, resolve));
        await Promise.race([woken, sleep(Math.min(left, DEFAULTS.pollMs), signal).catch(() => {})]);
        waiting.delete(approvalId);
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
      waiting.get(approvalId)?.();
    },
  };
}
