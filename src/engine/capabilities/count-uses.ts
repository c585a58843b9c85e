import { quarantineReason } from '../../core/capabilities/lifecycle.ts';
import { type ExecutionTrace, isEvidence } from '../../core/vocabulary/execution-trace.ts';
import { type CapabilityNodeId, capabilityUuid, kindOf } from '../../core/vocabulary/ids.ts';
import { isEnd } from '../../core/vocabulary/trace-event.ts';
import type { Capability } from '../ports.ts';
import type { CapabilityRegistry } from './capability-registry.ts';

const DEFAULTS = {
  /** Latest outcomes kept: what quarantine looks at. */
  recent: 20,
};

/** One more use of a capability, and how it went. */
export function withOutcome(capability: Capability, success: boolean, at: Date): Capability {
  const { evidence } = capability;
  const counted = {
    ...capability,
    uses: capability.uses + 1,
    successes: capability.successes + (success ? 1 : 0),
    evidence: { ...evidence, recent: [...evidence.recent, success].slice(-DEFAULTS.recent) },
    updatedAt: at,
  };
  const reason = counted.state === 'active' ? quarantineReason({ recent: counted.evidence.recent }) : null;
  return reason === null ? counted : quarantined(counted, reason);
}

export function quarantined(capability: Capability, reason: string): Capability {
  return {
    ...capability,
    state: 'quarantined',
    evidence: { ...capability.evidence, quarantinedBecause: reason },
  };
}

/** Whether a run was kept from its end: by a person who has to decide, or by whoever cancelled it. */
export function wasHalted({ errorType, taskResults }: ExecutionTrace): boolean {
  const [only] = taskResults as readonly { readonly error?: { readonly code?: string } }[];
  return errorType === 'PERMISSION' || only?.error?.code === 'cancelled';
}

/**
 * Every invocation counts, also those within others, but for successes in runs that PML started by itself. One that
 * was halted has not failed.
 */
export async function countUses(registry: CapabilityRegistry, trace: ExecutionTrace): Promise<void> {
  const { events, executedAt, origin } = trace;
  for (const event of events) {
    if (!isEnd(event) || kindOf(event.node) !== 'capability') continue;
    if (!isEvidence({ origin, success: event.success }) || (!event.success && wasHalted(trace))) continue;
    const id = capabilityUuid(event.node as CapabilityNodeId);
    await registry.change(async () => {
      const capability = registry.get(id);
      if (capability) await registry.put(withOutcome(capability, event.success, executedAt));
    });
  }
}
