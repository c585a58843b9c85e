import { wilsonLowerBound } from '../../core/capabilities/lifecycle.ts';
import type { LearnedSlot } from '../../core/capabilities/parameters.ts';
import { capabilityHyperedges, containedUses, type Hyperedge } from '../../core/graph/hyperpaths.ts';
import type { GraphSnapshot } from '../../core/graph/snapshot.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import { intentForms } from '../../core/learning/ranker/candidates.ts';
import type { EarlierValue, PastCall } from '../../core/planning/suggest/call-memory.ts';
import { type FilledArgument, fillArguments } from '../../core/planning/suggest/fill-arguments.ts';
import type { ParameterSlot, PlanSketch, SketchedTask } from '../../core/planning/suggest/plan-sketch.ts';
import { DONE_NODE } from '../../core/planning/suggest/predict-next.ts';
import { type CoveringCapability, suggestPlan } from '../../core/planning/suggest/suggest-plan.ts';
import type { Fill } from '../../core/planning/suggest/wire-arguments.ts';
import { nearestName } from '../../core/retrieval/words.ts';
import { capabilityNode, kindOf, type NodeId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Ownership } from '../../core/vocabulary/principal.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Background } from '../background.ts';
import type { Caller } from '../caller.ts';
import type { CapabilityHit } from '../capabilities/search-capabilities.ts';
import { type Catalogue, catalogueFor } from '../catalogue/catalogue.ts';
import { search } from '../catalogue/search.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { LiveGraph } from '../graph/live-graph.ts';
import { hidesTools, maySee, mayUseTool, sessionOf } from '../people/roles.ts';
import type { Capability, Embedder } from '../ports.ts';
import { createNextMemory, type NextStep, predictNextStep } from './next-memory.ts';
import type { Learning } from './open-learning.ts';
import { createPlanMemory, type PlanMemory, type RecalledPlan } from './plan-memory.ts';
import type { StoredModel } from './stored-model.ts';
import { createSuggestionLog, type SuggestionLog } from './suggestion-log.ts';

const DEFAULTS = {
  /** Other tools told for a task, and the cosine from which they would do as well. */
  alternatives: 3,
  alike: 0.53,
  /** Tools looked at when the next step is predicted from texts alone. */
  suggestFrom: 10,
  /** Capabilities shown beside a plan. */
  capabilities: 3,
  /** Capabilities within capabilities that parameters are followed through. */
  nested: 4,
};

export interface Suggestion {
  /** By which a run says that it comes from it; null for a plan of nothing. */
  readonly id: string | null;
  readonly plan: Plan;
  /** Expected F1 of its tools, calibrated. */
  readonly confidence: number;
  /** Successful past runs near to the intent that used all of its tools, without those PML started; 0 from search. */
  readonly support: number;
  /** What it rests on: past runs of the same kind, the texts of tools, or nothing; then it is empty. */
  readonly basis: 'runs' | 'text' | 'nothing';
  /** Arguments that were filled in and are not certain; a plan with such does not run by itself. */
  readonly guesses: readonly string[];
  /** Why tasks wait for others, by their ids. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
  /** By task: other tools that would do. */
  readonly alternatives: Readonly<Record<string, readonly string[]>>;
  readonly suggestedCapabilities: readonly CapabilityHit[];
}

export interface SuggestParts {
  readonly embedder: Embedder;
  readonly catalogue: Catalogue;
  readonly graph: TypedGraph;
  readonly capabilities: readonly Capability[];
  readonly plans: Pick<PlanMemory, 'draft'>;
  /** What calls were given before; absent: nothing is filled in. */
  readonly remembered?: RememberedCalls;
}

/** Past calls as the caller may see them, and what the caller's session knows. */
export interface RememberedCalls {
  readonly callsOf: (tool: string, intent: string) => readonly PastCall[];
  readonly earlier: readonly EarlierValue[];
}

type Suggested = Omit<Suggestion, 'id' | 'suggestedCapabilities'>;

/** What past runs say of the intent, or else the texts of tools, made into a plan that can run. */
export async function suggest(parts: SuggestParts, intent: string): Promise<Suggested> {
  const { catalogue, graph, capabilities } = parts;
  const text = intent.trim();
  if (text === '') return NOTHING;
  const isOffered = (id: string) => catalogue.get(id as ToolId) !== undefined;
  const recalled = parts.plans.draft(await intentForms(parts.embedder, text), isOffered);
  const sketch = sketchOf(recalled, catalogue);
  const { plan, edges, guesses } = suggestPlan(sketch, {
    graph,
    arcs: arcsOf(graph.snapshot()),
    capabilities: covering(capabilities, catalogue),
    reliabilityOf: (node) => {
      const { calls, failures } = graph.statisticsOf(node);
      return wilsonLowerBound(calls - failures, calls);
    },
    ...(parts.remembered && { fill: fillFrom(parts.remembered, catalogue, text) }),
  });
  const alternatives = Object.fromEntries(
    plan.tasks.map(({ id, tool }) => [
      id,
      tool === undefined ? [] : alternativesTo(tool, recalled, graph, catalogue),
    ]),
  );
  const { confidence, basis } = recalled;
  if (plan.tasks.length === 0) return NOTHING;
  // Nobody has run what is left of a plan whose other tools are out of reach.
  const isWhole = recalled.tools.every(({ place }) => isOffered(recalled.candidates.ids[place]!));
  const support = isWhole ? recalled.support : 0;
  return { plan, confidence, support, basis, guesses, edges, alternatives };
}

/**
 * Arguments by analogy; those of a capability are those of the tools that its parameters go to. Where it calls a tool
 * twice, each call goes by what calls at its place were given, and the second gets what the intent says besides what the
 * first one took.
 */
function fillFrom({ callsOf, earlier }: RememberedCalls, catalogue: Catalogue, intent: string): Fill {
  const ofTool = (
    tool: string,
    schema: unknown,
    planned: ReadonlyMap<string, string>,
    past = callsOf(tool, intent),
    said = intent,
  ) => fillArguments({ intent: said, schema, past, earlier, planned });
  return ({ body, schema, slots = [] }, planned) => {
    if (body.tool !== undefined) return ofTool(body.tool, schema, planned);
    const filled = new Map<string, FilledArgument>();
    for (const [tool, own] of Map.groupBy(slots, (slot) => slot.tool)) {
      let left = intent;
      const past = callsOf(tool, intent);
      const calls = callsIn(own);
      for (const [nth, call] of calls.entries()) {
        const alike = calls.length === 1 ? [] : past.filter((one) => one.nth === nth);
        const schema = catalogue.get(tool as ToolId)?.tool.inputSchema;
        const known = ofTool(tool, schema, planned, alike.length === 0 ? past : alike, left);
        for (const { parameter, name } of call) {
          const found = known.get(name);
          if (!found) continue;
          filled.set(parameter, found);
          if (found.isSaid) left = left.replaceAll(String(found.value), ' ');
        }
      }
    }
    return filled;
  };
}

/** The slots of a tool by call: where a name comes again, another call begins. */
function callsIn(slots: readonly ParameterSlot[]): ParameterSlot[][] {
  const calls: ParameterSlot[][] = [];
  for (const slot of slots) {
    const last = calls.at(-1);
    if (last && !last.some(({ name }) => name === slot.name)) last.push(slot);
    else calls.push([slot]);
  }
  return calls;
}

/** A plan rests on evidence; without any there is none. */
const NOTHING: Suggested = {
  plan: { tasks: [], inputs: [] },
  confidence: 0,
  support: 0,
  basis: 'nothing',
  guesses: [],
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

/** Those that may stand in for tasks, as the planner sees them. */
function covering(capabilities: readonly Capability[], catalogue: Catalogue): CoveringCapability[] {
  const bySlug = new Map(capabilities.map((one) => [one.slug, one]));
  return capabilities
    .filter(({ state }) => state === 'active')
    .map((capability) => {
      const { id, slug, parametersSchema, toolsUsed, toolInvocations, successes, uses, evidence } =
        capability;
      const last = evidence.part?.tools.at(-1);
      return {
        node: capabilityNode(id),
        slug,
        schema: parametersSchema,
        tools: toolsUsed.filter((node) => kindOf(node) === 'tool'),
        calls: toolInvocations.map((call) => (call as { tool: string }).tool),
        reliability: wilsonLowerBound(successes, uses),
        slots: [...slotsOf(capability, bySlug), ...unrecordedSlots(capability, catalogue)],
        ...(last !== undefined && { gives: last as NodeId }),
      };
    });
}

/** What is handed on to a smaller capability goes to the tool that this one gives it to. */
function slotsOf(
  { template }: Capability,
  bySlug: ReadonlyMap<string, Capability>,
  depth = 0,
): ParameterSlot[] {
  return (template.slots as readonly LearnedSlot[]).flatMap(({ parameter, argument }) => {
    if (parameter === null || !argument) return [];
    const { tool, name } = argument;
    if (!tool.startsWith(CALLED)) return [{ parameter, tool, name }];
    const inner = bySlug.get(tool.slice(CALLED.length));
    if (!inner || depth >= DEFAULTS.nested) return [];
    const found = slotsOf(inner, bySlug, depth + 1).find((slot) => slot.parameter === name);
    return found ? [{ ...found, parameter }] : [];
  });
}

/** Parameters of a part that were never recorded have the name of the argument they go to. */
function unrecordedSlots(
  { evidence, parametersSchema, template }: Capability,
  catalogue: Catalogue,
): ParameterSlot[] {
  if (!evidence.part) return [];
  const known = new Set((template.slots as readonly LearnedSlot[]).map(({ parameter }) => parameter));
  const { properties = {} } = parametersSchema as { properties?: object };
  const tools = new Set(evidence.part.tools);
  return Object.keys(properties).flatMap((name) => {
    if (known.has(name)) return [];
    const takes = (id: string) => {
      const schema = catalogue.get(id as ToolId)?.tool.inputSchema as { properties?: object } | undefined;
      return Object.hasOwn(schema?.properties ?? {}, name);
    };
    const tool = [...tools].find(takes);
    return tool === undefined ? [] : [{ parameter: name, tool, name }];
  });
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
    .filter(({ id }) => catalogue.get(id as ToolId))
    .map(({ id }) => id);
  return [...new Set([...inGraph, ...alike])].slice(0, DEFAULTS.alternatives);
}

/** A tool in any spelling, a capability by slug, by `capabilities.slug` or by its node, or an operation. */
function nodeNamed(
  name: string,
  {
    catalogue,
    capabilities,
    inGraph,
  }: {
    readonly catalogue: Catalogue;
    readonly capabilities: readonly Capability[];
    readonly inGraph: (node: NodeId) => boolean;
  },
): NodeId {
  const plain = name.trim();
  const called = plain.startsWith(CALLED) ? plain.slice(CALLED.length) : plain;
  const capability = capabilities.find(
    ({ id, slug, aliases }) => slug === called || aliases.includes(called) || capabilityNode(id) === plain,
  );
  if (capability) return capabilityNode(capability.id);
  if (kindOf(plain) === 'operation' || inGraph(plain as NodeId)) return plain as NodeId;
  try {
    return catalogue.find(plain).tool.id;
  } catch {
    const nearest = nearestName(plain, [
      ...catalogue.tools.map(({ id }) => id),
      ...capabilities.map(({ slug }) => slug),
    ]);
    throw new PmlError('not_found', `No tool or capability is called "${name}"`, {
      hint: nearest
        ? `Did you mean ${nearest}?`
        : 'Tools have the form server:tool; capabilities are called by their name.',
    });
  }
}

/** How code calls a capability. */
const CALLED = 'capabilities.';

interface SuggestionParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly learning: Pick<Learning, 'ranker' | 'prepare' | 'onRun' | 'calls'>;
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
  predictNext(intent: string, executed: readonly string[], caller?: Pick<Caller, 'who'>): Promise<NextStep[]>;
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
    probe: ranker.probe,
    graph: graph.current,
    catalogue,
    takenOut: log.takenOut,
  });
  learning.onRun(plans.judge);
  const next = createNextMemory({
    ports,
    runs: ranker.runs,
    beliefIn: ranker.beliefIn,
    ranker: ranker.current,
    graph: graph.current,
  });
  const rememberedFor = (caller?: Caller): RememberedCalls => {
    const user = caller?.who?.user ?? null;
    const session = sessionOf(caller ?? { sessionId: null }, user);
    const isOfOthers = hidesTools(caller?.who?.scope) && caller?.sessionId === null;
    const isSeen = (run: Ownership) => !caller?.who || maySee(caller.who, run);
    return {
      callsOf: (tool, intent) => learning.calls.callsOf(tool, intent, isSeen),
      // Without a session these are values of all the user's keys, of which others may use more.
      earlier: isOfOthers ? [] : learning.calls.earlier(session, ports.clock.now().getTime()),
    };
  };
  const catalogueOf = ({ who }: Pick<Caller, 'who'>) => catalogueFor(catalogue(), who?.scope);
  /** Null: no step is hidden. */
  const stepsSeenBy = (caller: Pick<Caller, 'who'>): ((node: string) => boolean) | null => {
    const { who } = caller;
    if (!hidesTools(who?.scope)) return null;
    const known = new Set<string>(capabilities(caller).map(({ id }) => capabilityNode(id)));
    return (node) => {
      const kind = kindOf(node);
      if (kind === 'capability') return known.has(node);
      return kind !== 'tool' || node === DONE_NODE || mayUseTool(who!.scope, node as ToolId);
    };
  };

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
        catalogue: catalogueOf(caller ?? {}),
        graph: graph.current(),
        capabilities: capabilities(caller ?? {}),
        plans,
        remembered: rememberedFor(caller),
      };
      const suggested = await suggest(known, intent);
      if (plans.isDue()) background.run('Learning plans', plans.refresh);
      const id = await log.keep(intent, suggested.plan, suggested.confidence, caller);
      const suggestedCapabilities = await findCapabilities(intent, DEFAULTS.capabilities, caller);
      return { id, ...suggested, suggestedCapabilities };
    },

    async predictNext(intent, executed, caller = {}) {
      await learning.prepare();
      await next.recall();
      const isSeen = stepsSeenBy(caller);
      const tools = catalogueOf(caller);
      const known = {
        catalogue: tools,
        capabilities: capabilities(isSeen ? caller : {}),
        inGraph: (node: NodeId) => graph.current().has(node) && (isSeen?.(node) ?? true),
      };
      const done = executed.map((name) => nodeNamed(name, known));
      const byText = (query: string) => search(tools, embedder, { query, limit: DEFAULTS.suggestFrom });
      const steps = await predictNextStep({ embedder, next, search: byText, isSeen }, intent, done);
      if (next.isDue()) background.run('Learning what comes next', next.refresh);
      return steps;
    },
  };
}
