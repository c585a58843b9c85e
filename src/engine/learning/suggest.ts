import { wilsonLowerBound } from '../../core/capabilities/lifecycle.ts';
import { capabilityHyperedges, containedUses, type Hyperedge } from '../../core/graph/hyperpaths.ts';
import type { GraphSnapshot } from '../../core/graph/snapshot.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import type { PlanSketch, SketchedTask } from '../../core/planning/suggest/plan-sketch.ts';
import { type CoveringCapability, suggestPlan } from '../../core/planning/suggest/suggest-plan.ts';
import { capabilityNode, kindOf, type NodeId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Background } from '../background.ts';
import type { Caller } from '../caller.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { search } from '../catalogue/search.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { CapabilityHit, NextStep, Suggestion } from '../gateway.ts';
import type { LiveGraph } from '../graph/live-graph.ts';
import type { Capability, Embedder } from '../ports.ts';
import { intentForms } from './learnable-run.ts';
import { createNextMemory, predictNextStep } from './next-memory.ts';
import type { Learning } from './open-learning.ts';
import { createPlanMemory, type PlanMemory, type RecalledPlan } from './plan-memory.ts';
import type { StoredModel } from './stored-model.ts';
import { createSuggestionLog, type SuggestionLog } from './suggestion-log.ts';

const DEFAULTS = {
  /** Other tools told for a task, and the cosine from which they would do as well. */
  alternatives: 3,
  alike: 0.6,
  /** Tools looked at when the next step is predicted from texts alone. */
  suggestFrom: 10,
  /** Capabilities shown beside a plan. */
  capabilities: 3,
};

export interface SuggestParts {
  readonly embedder: Embedder;
  readonly catalogue: Catalogue;
  readonly graph: TypedGraph;
  readonly capabilities: readonly Capability[];
  readonly plans: Pick<PlanMemory, 'draft'>;
}

type Suggested = Omit<Suggestion, 'id' | 'suggestedCapabilities'>;

/** What past runs say of the intent, or else the texts of tools, made into a plan that can run. */
export async function suggest(parts: SuggestParts, intent: string): Promise<Suggested> {
  const { catalogue, graph, capabilities } = parts;
  const text = intent.trim();
  if (text === '') return NOTHING;
  const recalled = parts.plans.draft(await intentForms(parts.embedder, text));
  const sketch = sketchOf(recalled, catalogue);
  const { plan, edges } = suggestPlan(sketch, {
    graph,
    arcs: arcsOf(graph.snapshot()),
    capabilities: capabilities.filter(({ state }) => state === 'active').map(covering),
    reliabilityOf: (node) => {
      const { calls, failures } = graph.statisticsOf(node);
      return wilsonLowerBound(calls - failures, calls);
    },
  });
  const alternatives = Object.fromEntries(
    plan.tasks.map(({ id, tool }) => [
      id,
      tool === undefined ? [] : alternativesTo(tool, recalled, graph, catalogue),
    ]),
  );
  const { confidence, support, basis } = recalled;
  if (plan.tasks.length === 0) return NOTHING;
  return { plan, confidence, support, basis, edges, alternatives };
}

/** A plan rests on evidence; without any there is none. */
const NOTHING: Suggested = {
  plan: { tasks: [], inputs: [] },
  confidence: 0,
  support: 0,
  basis: 'nothing',
  edges: [],
  alternatives: {},
};

/** Tools that are gone meanwhile are left out. */
function sketchOf(recalled: RecalledPlan, catalogue: Catalogue): PlanSketch {
  const { tools, edges, candidates, reasons } = recalled;
  const found = tools.map(({ place }) => catalogue.get(candidates.ids[place] as ToolId)?.tool);
  const kept = [...tools.keys()].filter((i) => found[i] !== undefined);
  const at = new Map(kept.map((i, place) => [i, place]));
  const tasks = kept.map((i) => taskOf(found[i]!, tools[i]!.chance, reasons.ofTool(tools[i]!.place)));
  const between = edges.flatMap(({ from, to, weight }) => {
    const [a, b] = [at.get(from), at.get(to)];
    if (a === undefined || b === undefined) return [];
    return [{ from: a, to: b, weight, reason: reasons.ofEdge(tools[from]!.place, tools[to]!.place) }];
  });
  return { tasks, edges: between };
}

function taskOf(tool: ToolDefinition, chance: number, reason: string): SketchedTask {
  return { node: tool.id, body: { tool: tool.id }, schema: tool.inputSchema, chance, reason };
}

function covering(capability: Capability): CoveringCapability {
  const { id, slug, parametersSchema, toolsUsed, successes, uses } = capability;
  return {
    node: capabilityNode(id),
    slug,
    schema: parametersSchema,
    tools: toolsUsed.filter((node) => kindOf(node) === 'tool'),
    reliability: wilsonLowerBound(successes, uses),
  };
}

/** Made once per state of the graph. */
const knownArcs = new WeakMap<GraphSnapshot, readonly Hyperedge[]>();

function arcsOf(snapshot: GraphSnapshot): readonly Hyperedge[] {
  const known = knownArcs.get(snapshot);
  if (known) return known;
  const uses = containedUses(snapshot);
  // Without capabilities nothing waits for one.
  const arcs = uses.length === 0 ? [] : capabilityHyperedges(snapshot, uses);
  knownArcs.set(snapshot, arcs);
  return arcs;
}

/** Those the graph knows to stand in for it, then those that were likely too and read alike. */
function alternativesTo(
  tool: string,
  recalled: RecalledPlan,
  graph: TypedGraph,
  catalogue: Catalogue,
): string[] {
  const inGraph = [...graph.edgesFrom(tool as NodeId)]
    .filter(({ type, to }) => type === 'alternative' && catalogue.get(to as ToolId))
    .map(({ to }): string => to);
  const vector = catalogue.vectors.get(tool);
  const near = vector ? catalogue.vectors.nearest(vector, 2 * DEFAULTS.alternatives + 1) : [];
  const likely = new Set(recalled.rest.map(({ place }) => recalled.candidates.ids[place]));
  const alike = near
    .filter(({ id, score }) => id !== tool && score >= DEFAULTS.alike && likely.has(id))
    .map(({ id }) => id);
  return [...new Set([...inGraph, ...alike])].slice(0, DEFAULTS.alternatives);
}

interface SuggestionParts {
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
