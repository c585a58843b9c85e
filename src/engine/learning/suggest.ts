import { wilsonLowerBound } from '../../core/capabilities/lifecycle.ts';
import type { Hyperedge } from '../../core/graph/hyperpaths.ts';
import { capabilityHyperedges, containedUses } from '../../core/graph/hyperpaths.ts';
import type { GraphSnapshot } from '../../core/graph/snapshot.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import type { PlanSketch, SketchedTask } from '../../core/planning/suggest/plan-sketch.ts';
import type { CoveringCapability } from '../../core/planning/suggest/suggest-plan.ts';
import { suggestPlan } from '../../core/planning/suggest/suggest-plan.ts';
import { capabilityNode, kindOf, type NodeId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Suggestion } from '../gateway.ts';
import type { Capability, Embedder } from '../ports.ts';
import { intentForms } from './learnable-run.ts';
import type { PlanMemory, RecalledPlan } from './plan-memory.ts';

const DEFAULTS = {
  /** Other tools told for a task, and the cosine from which they would do as well. */
  alternatives: 3,
  alike: 0.6,
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
