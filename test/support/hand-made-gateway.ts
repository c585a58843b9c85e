import type { Gateway } from '../../src/engine/gateway.ts';
import type { Settings, Store } from '../../src/engine/ports.ts';
import { createEventLog, type EventLog } from '../../src/engine/traces/event-log.ts';
import { createMemoryStore } from '../memory/store.ts';

const NOW = new Date('2026-11-15T10:00:00Z');

/** A gateway that only has the given parts; using any other part is a mistake of the test. */
export function handMadeGateway(parts: Partial<Gateway> = {}, kept?: number): Gateway {
  const store = createMemoryStore();
  const events = createEventLog({ now: () => NOW, monotonic: () => 0 }, kept);
  const showExact: Gateway['showExact'] = async (runs) => [...runs];
  const settleApproval = settleIn(store, events);
  const absentServers: Gateway['absentServers'] = async () => [];
  const given: Partial<Gateway> = { store, events, settleApproval, showExact, absentServers, ...parts };
  return new Proxy(given as Gateway, {
    get(target, name) {
      const part = target[name as keyof Gateway];
      if (part === undefined) throw new Error(`The hand-made gateway has no ${String(name)}`);
      return part;
    },
  });
}

/** A gateway without servers, on which MCP endpoints can be opened. */
export function serverlessGateway(parts: Partial<Gateway> = {}): Gateway {
  return handMadeGateway({
    settings: () => ({ servers: [] }) as unknown as Settings,
    inventory: () => 'No servers are attached.',
    onUpstream: () => () => {},
    forgetClient: async () => {},
    close: async () => {},
    ...parts,
  });
}

/** Applies the store's rule, as surfaces see it: the first decision stands. */
function settleIn(store: Store, events: EventLog): Gateway['settleApproval'] {
  return async (runId, decision, by) => {
    const open = await store.approvals.list({ runId, state: 'pending' });
    for (const { id } of open) {
      await store.approvals.settle(id, decision, by, NOW);
      events.emit({ type: 'approval_settled', approval_id: id, run_id: runId, state: decision, by });
    }
    return open.length > 0;
  };
}
