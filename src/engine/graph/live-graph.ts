import { applyTraces } from '../../core/graph/apply-trace.ts';
import type { GraphEdge } from '../../core/graph/graph-edge.ts';
import { relatedNodes } from '../../core/graph/related-nodes.ts';
import {
  type AlphaKind,
  adaptiveAlpha,
  addColdStartScores,
  type ColdStartHints,
  localAlpha,
  relatednessOf,
} from '../../core/graph/relatedness.ts';
import type { TemplateEdge } from '../../core/graph/templates.ts';
import { containedIn, TypedGraph } from '../../core/graph/typed-graph.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import { kindOf, type NodeId, parseToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { SearchGraph, SearchHit } from '../catalogue/search.ts';
import type { ProgramCache } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { GraphStep } from '../ports.ts';
import { createJobs } from '../traces/jobs.ts';
import { factsOf } from './trace-facts.ts';

const DEFAULTS = {
  /** Traces applied and stored at once. */
  batch: 100,
  /** Tools told as related to a hit. */
  related: 5,
  /** Tools with the most similar descriptions that are looked at before any run. */
  similar: 5,
};

/** The graph in use: what was learned, plus the templates. */
export interface LiveGraph {
  current(): TypedGraph;
  /**
   * Learns what any gateway has stored so far, or until the signal ends; the rest is learned later. A graph that another
   * gateway rebuilt is read again.
   */
  catchUp(signal?: AbortSignal): Promise<void>;
  /** Lets those templates count whose tools are both there, or were met in runs. */
  offer(isThere: (tool: ToolId) => boolean): void;
  /** Takes these for the `alternative` edges there are: they follow from capabilities, not from traces. */
  relate(alternatives: readonly GraphEdge[]): void;
  /** Told of traces once they are in the graph, in the order they were stored. */
  onLearned(listener: (traces: readonly ExecutionTrace[]) => void): void;
  /** Forgets all and learns it again from the traces there are; answers how many. */
  rebuild(onProgress?: (traces: number) => void): Promise<number>;
}

export interface LiveGraphParts {
  readonly ports: Pick<FlowPorts, 'store' | 'events'>;
  readonly programs: ProgramCache;
  readonly templates: readonly TemplateEdge[];
  /** Milliseconds between two calls of one job at the most; absent: as many as by default. */
  readonly gapMs?: () => number;
}

export async function openLiveGraph(parts: LiveGraphParts): Promise<LiveGraph> {
  const { ports, programs, templates, gapMs } = parts;
  const { store, events } = ports;
  /** Of the traces up to the cursor; made again where that jumps. */
  let jobs = createJobs(store, gapMs);
  const listeners: ((traces: readonly ExecutionTrace[]) => void)[] = [];
  let alternatives: readonly GraphEdge[] = [];
  let isThere: (tool: ToolId) => boolean = () => false;
  let { graph, cursor, generation } = await read();
  /** The graph here holds what the store does not: it is read again before anything is built on it. */
  let isAhead = false;
  /** The listeners were told of the traces up to here. */
  let toldTo = cursor;
  let last: Promise<unknown> = Promise.resolve();

  function declareTemplates(to: TypedGraph): void {
    const isMet = (tool: ToolId) => isThere(tool) || to.statisticsOf(tool).calls > 0;
    for (const edge of templates) {
      if (isMet(edge.from) && isMet(edge.to)) to.declare(edge.from, edge.to, edge.type);
    }
  }

  /** Neither is stored: the templates' file and the capabilities provide them at each start. */
  function withRest(fresh: TypedGraph): TypedGraph {
    declareTemplates(fresh);
    fresh.replaceType('alternative', standIns(fresh, alternatives));
    return fresh;
  }

  async function read() {
    for (;;) {
      const { generation: before } = await store.graph.position();
      const stored = await store.graph.read();
      const { generation: after } = await store.graph.position();
      if (before !== after) continue;
      const fresh = withRest(new TypedGraph(stored.edges, stored.statistics));
      return { graph: fresh, cursor: stored.cursor, generation: after };
    }
  }

  async function reread(): Promise<void> {
    ({ graph, cursor, generation } = await read());
    jobs = createJobs(store, gapMs);
  }

  /**
   * The graph follows from the traces in their order, so every gateway stores the same. Where another did as
   * far as this one has come, nothing is left to do; where it stopped midway, what is missing is among the changes.
   */
  async function keep(step: GraphStep): Promise<void> {
    while (!(await store.graph.apply({ ...step, generation }))) {
      const at = await store.graph.position();
      if (at.generation !== generation) {
        await reread();
        return;
      }
      if (at.cursor >= step.cursor) return;
      step = { ...step, from: at.cursor };
    }
  }

  async function followGeneration(): Promise<void> {
    if (!isAhead && (await store.graph.position()).generation === generation) return;
    await reread();
    isAhead = false;
  }

  /** Whether there may be more: traces that come while a page is learned wait for the next time. */
  async function step(): Promise<boolean> {
    const page = await store.traces.scan(cursor, DEFAULTS.batch);
    isAhead = page.traces.length > 0;
    if (!isAhead) return false;
    const changes = applyTraces(graph, await factsOf(programs, page.traces, jobs));
    const from = cursor;
    cursor = page.cursor;
    await keep({ ...changes, from, cursor });
    isAhead = false;
    declareTemplates(graph);
    events.emit({ type: 'graph_changed', edges: changes.edges.length, traces: page.traces.length });
    for (const tell of listeners) tell(page.traces);
    toldTo = page.cursor;
    return page.traces.length === DEFAULTS.batch || cursor !== page.cursor;
  }

  /** A graph that was read from the store holds traces that were never met here. */
  async function tellSkipped(): Promise<void> {
    while (listeners.length > 0 && toldTo < cursor) {
      const page = await store.traces.scan(toldTo, DEFAULTS.batch);
      toldTo = page.traces.length > 0 ? page.cursor : cursor;
      for (const tell of listeners) tell(page.traces);
    }
  }

  /** From the roll-up of the traces that went and all that are there. */
  async function learnAll(onProgress?: (traces: number) => void) {
    const { edges, statistics, traces: rolledUp } = await store.rollup.read();
    const fresh = new TypedGraph(edges, statistics);
    const afresh = createJobs(store, gapMs);
    let [at, traces] = [0, 0];
    for (;;) {
      const page = await store.traces.scan(at, DEFAULTS.batch);
      if (page.traces.length === 0) return { fresh, at, count: { traces, rolledUp } };
      applyTraces(fresh, await factsOf(programs, page.traces, afresh));
      at = page.cursor;
      traces += page.traces.length;
      onProgress?.(traces);
    }
  }

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };

  return {
    current: () => graph,
    onLearned: (listener) => void listeners.push(listener),
    relate(edges) {
      alternatives = edges;
      graph.replaceType('alternative', standIns(graph, edges));
    },
    offer(isOffered) {
      isThere = isOffered;
      declareTemplates(graph);
    },
    catchUp: (signal) =>
      inTurn(async () => {
        await followGeneration();
        while (!signal?.aborted && (await step()));
        await tellSkipped();
      }),
    rebuild: (onProgress) =>
      inTurn(async () => {
        let { fresh, at, count } = await learnAll(onProgress);
        // Traces that were rolled up meanwhile may have been met neither here nor there.
        while ((await store.rollup.traces()) !== count.rolledUp) {
          ({ fresh, at, count } = await learnAll(onProgress));
        }
        await store.graph.replaceAll({ edges: fresh.edges(), statistics: fresh.statistics(), cursor: at });
        await reread();
        return count.traces;
      }),
  };
}

/** What one of two calls, itself or by others, serves its intents as a part of it: neither stands in for the other. */
function standIns(graph: TypedGraph, alternatives: readonly GraphEdge[]): GraphEdge[] {
  return alternatives.filter(
    ({ from, to }) => !containedIn(graph, from).has(to) && !containedIn(graph, to).has(from),
  );
}

/** What it needs to know about the tools. */
type Tools = Pick<Catalogue, 'entries' | 'get' | 'vectors'>;

/** What search reads from the current graph. */
export function graphForSearch(
  graph: () => TypedGraph,
  catalogue: () => Tools,
  alphaKind: () => AlphaKind = () => 'adaptive',
): SearchGraph {
  return {
    context: (tools) => contextScores(graph(), catalogue(), tools.flatMap(readToolId), alphaKind()),
    related: (tool) => relatedTools(graph(), catalogue(), tool),
  };
}

/** Names that are not tool ids have no scores: a context is a hint, not an order. */
function readToolId(text: string): ToolId[] {
  try {
    return [parseToolId(text)];
  } catch {
    return [];
  }
}

/** What the graph says about tools next to those used so far; unknown ones say nothing. */
function contextScores(
  graph: TypedGraph,
  catalogue: Tools,
  context: readonly ToolId[],
  alphaKind: AlphaKind,
): ReturnType<SearchGraph['context']> {
  const met = context.filter((tool) => graph.has(tool) || catalogue.get(tool));
  if (met.length === 0) return { alpha: 1, scores: new Map() };
  const scores = relatednessOf(graph.snapshot()).toContext(met);
  addColdStartScores(scores, graph.snapshot(), met, (node) => hintsOf(catalogue, node));
  if (scores.size === 0) return { alpha: 1, scores };
  const alpha =
    alphaKind === 'local'
      ? localAlpha(graph.snapshot(), met)
      : adaptiveAlpha(true, graph.size.nonTemplateEdges);
  return { alpha, scores };
}

/** Tools used together with a hit, by number of runs; best first. */
function relatedTools(graph: TypedGraph, catalogue: Tools, tool: ToolId): SearchHit['related'] {
  const accepts = (node: NodeId) => kindOf(node) === 'tool' && catalogue.get(node as ToolId) !== undefined;
  return relatedNodes(graph, tool, { limit: DEFAULTS.related, accepts }).map(({ node, relation, score }) => ({
    toolId: node,
    relation,
    score,
  }));
}

function hintsOf(catalogue: Tools, node: NodeId): ColdStartHints {
  const own = catalogue.get(node as ToolId)?.tool;
  const sameServer = catalogue.entries
    .filter(({ tool }) => own !== undefined && tool.server === own.server)
    .map(({ tool }) => tool.id);
  const vector = catalogue.vectors.get(node);
  const similar = vector ? catalogue.vectors.nearest(vector, DEFAULTS.similar + 1) : [];
  return { sameServer, similar: similar.map(({ id, score }) => ({ node: id as NodeId, cosine: score })) };
}
