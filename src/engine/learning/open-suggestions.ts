import type { Background } from '../background.ts';
import type { Caller } from '../caller.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { search } from '../catalogue/search.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { CapabilityHit, NextStep, Suggestion } from '../gateway.ts';
import type { LiveGraph } from '../graph/live-graph.ts';
import type { Capability } from '../ports.ts';
import { createNextMemory, predictNextStep } from './next-memory.ts';
import type { Learning } from './open-learning.ts';
import { createPlanMemory } from './plan-memory.ts';
import type { StoredModel } from './stored-model.ts';
import { suggest } from './suggest.ts';
import { createSuggestionLog, type SuggestionLog } from './suggestion-log.ts';

const DEFAULTS = {
  /** Tools looked at when the next step is predicted from texts alone. */
  suggestFrom: 10,
  /** Capabilities shown beside a plan. */
  capabilities: 3,
};

export interface SuggestionParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly learning: Pick<Learning, 'ranker' | 'prepare'>;
  readonly graph: Pick<LiveGraph, 'current'>;
  readonly catalogue: () => Catalogue;
  /** Those that this caller may see. */
  readonly capabilities: (caller: Pick<Caller, 'who'>) => readonly Capability[];
  readonly findCapabilities: (
    query: string,
    limit: number,
    caller?: Pick<Caller, 'who'>,
  ) => Promise<CapabilityHit[]>;
}

/** Plans and next steps for an intent, by what past runs did. */
export interface Suggestions {
  readonly log: SuggestionLog;
  suggest(intent: string, caller?: Caller): Promise<Suggestion>;
  predictNext(intent: string, executed: readonly string[]): Promise<NextStep[]>;
  /** What earlier lives of the gateway, or other gateways, learned. */
  recall(): Promise<void>;
  /** Learns again where enough runs came since. */
  refresh(signal: AbortSignal): Promise<void>;
  /** The models that are learned beside the ranker. */
  readonly models: readonly Pick<StoredModel<unknown>, 'reload'>[];
}

export function openSuggestions(parts: SuggestionParts): Suggestions {
  const { ports, background, learning, graph, catalogue, capabilities, findCapabilities } = parts;
  const { embedder } = ports;
  const { ranker } = learning;
  const log = createSuggestionLog(ports);
  const plans = createPlanMemory({
    ports,
    runs: ranker.runs,
    ranker: ranker.current,
    graph: graph.current,
    catalogue,
    takenOut: log.takenOut,
  });
  const next = createNextMemory({
    ports,
    runs: ranker.runs,
    beliefIn: ranker.beliefIn,
    ranker: ranker.current,
  });
  const searchByText = (query: string) =>
    search(catalogue(), embedder, { query, limit: DEFAULTS.suggestFrom });

  return {
    log,
    models: [plans, next],
    async recall() {
      await plans.recall();
      await next.recall();
    },
    async refresh(signal) {
      await plans.refresh(signal);
      await next.refresh(signal);
    },

    async suggest(intent, caller) {
      await learning.prepare();
      await plans.recall();
      await log.recall();
      const known = {
        embedder,
        catalogue: catalogue(),
        graph: graph.current(),
        capabilities: capabilities(caller ?? {}),
        plans,
      };
      const suggested = await suggest(known, intent);
      background.run('Learning plans', plans.refresh);
      const id = await log.keep(intent, suggested.plan, suggested.confidence, caller);
      const suggestedCapabilities = await findCapabilities(intent, DEFAULTS.capabilities, caller);
      return { id, ...suggested, suggestedCapabilities };
    },

    async predictNext(intent, executed) {
      await learning.prepare();
      await next.recall();
      const steps = await predictNextStep({ embedder, next, search: searchByText }, intent, executed);
      background.run('Learning what comes next', next.refresh);
      return steps;
    },
  };
}
