import type { FlowPorts } from '../flow-ports.ts';
import type { JsonObject } from '../ports.ts';

export interface DecisionMade {
  readonly runId: string;
  /** `hil_decision`: a person's. `ail_decision`: the agent's. `speculation_start`: to call a tool ahead. */
  readonly eventType: 'hil_decision' | 'ail_decision' | 'speculation_start';
  readonly taskId?: string;
  readonly data: JsonObject;
}

/** Keeps who decided what about a run. The decision stands, also where it cannot be kept. */
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
    logger.log('error', 'A decision cannot be kept', { run_id: runId, error: String(error) });
  }
}
