import { toolSignature } from '../core/capabilities/tool-signature.ts';
import type { TemplateEdge } from '../core/graph/templates.ts';
import { createBackground } from './background.ts';
import { boundedGateway } from './bounded-gateway.ts';
import type { Caller } from './caller.ts';
import { createApprovals } from './calls/approvals.ts';
import {
  openCapabilityRegistry,
  quarantineChanged,
  seenBy,
  sharedOnly,
} from './capabilities/capability-registry.ts';
import type { CapabilityLessons } from './capabilities/learn-capability.ts';
import { manageCapabilities } from './capabilities/manage-capabilities.ts';
import { searchCapabilities } from './capabilities/search-capabilities.ts';
import { openInventory, statsOf } from './catalogue/inventory.ts';
import { openLiveCatalogue } from './catalogue/live-catalogue.ts';
import { manageServers } from './catalogue/manage-servers.ts';
import { openObservedOutputs } from './catalogue/observed-outputs.ts';
import { rememberingEmbedder } from './catalogue/remembering-embedder.ts';
import { search } from './catalogue/search.ts';
import type { CodeScope } from './code/code-scope.ts';
import { executeCode } from './code/execute-code.ts';
import { createProgramCache } from './code/program.ts';
import type { FlowPorts } from './flow-ports.ts';
import { changeFollower } from './follow-changes.ts';
import type { Gateway } from './gateway.ts';
import { graphForSearch } from './graph/graph-for-search.ts';
import { capabilityAlternatives, createGraphService } from './graph/graph-service.ts';
import { openLiveGraph } from './graph/live-graph.ts';
import { learnFromTraces } from './learning/learn-from-trace.ts';
import { openLearning } from './learning/open-learning.ts';
import { openSuggestions } from './learning/suggest.ts';
import { recordPolicy } from './people/audit-trail.ts';
import { createPeopleService } from './people/people-service.ts';
import type { LoopFigures, Settings } from './ports.ts';
import { openRuns } from './runs/open-runs.ts';
import { openTraces } from './traces/open-traces.ts';
import { watchRetention } from './traces/retain-traces.ts';
import { createActiveRuns } from './workflow/active-runs.ts';
import { takeUpAbandoned, watchAbandoned } from './workflow/resume-run.ts';

export interface GatewayOptions {
  /** False for a process that only looks: it starts no server to learn its tools. */
  readonly fillIn?: boolean;
  /** What usually comes before what, until runs show it. */
  readonly templates?: readonly TemplateEdge[];
  /** How long a run stays with a gateway that gives no sign of life. */
  readonly leaseMs?: number;
}

/** Who runs code once more to see whether it works again. */
const REPLAYER: Caller = { sessionId: null, origin: 'replay' };

const NEVER_STILL: LoopFigures = { stalls: 0, stalledMs: 0, longestMs: 0, last: null };

/** Opens the services PML is made of; those that learn of each other do so by subscription. */
export async function createGateway(
  ports: FlowPorts,
  initial: Settings,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const { store, upstream, embedder, events, trainerLock } = ports;
  let current = initial;
  const settings = () => current;
  const isShared = initial.store.url !== null;
  const begin = (what: string) => ports.loop?.begin(what);
  const background = createBackground(ports.logger, begin);
  const closing = new AbortController();
  const programs = createProgramCache();
  const remembering = rememberingEmbedder(embedder);

  const outputs = await openObservedOutputs(store);
  const graph = await openLiveGraph({ ports, programs, templates: options.templates ?? [] });
  const capabilities = await openCapabilityRegistry(ports);
  /** The graph, the ranker and the list of tools are for all users: they know of what is shared. */
  const shared = sharedOnly(capabilities);
  const catalogue = await openLiveCatalogue(ports, background, settings);
  const inventory = openInventory(events, settings, catalogue, shared);
  const approvals = createApprovals(ports);
  const activeRuns = createActiveRuns(ports.crypto.randomUuid, options.leaseMs);
  const traces = openTraces(ports, background);
  const learning = openLearning({
    ports,
    background,
    catalogue: catalogue.current,
    capabilities: shared.all,
    remembering,
    isEnabled: () => current.learning.enabled,
  });
  const findCapabilities: Gateway['searchCapabilities'] = (query, limit, caller = {}) =>
    searchCapabilities(seenBy(capabilities, caller).all(), embedder, remembering, query, limit);
  const suggestions = openSuggestions({
    ports,
    background,
    learning,
    graph,
    catalogue: catalogue.current,
    capabilities: (caller) => seenBy(capabilities, caller).all(),
    findCapabilities,
  });
  const scope = (): CodeScope => ({
    ports,
    approvals,
    traces,
    settings: current,
    capabilities,
    programs,
    findTool: catalogue.find,
  });
  const lessons: CapabilityLessons = {
    ports,
    background,
    capabilities,
    programs,
    catalogue: catalogue.current,
    run: (program, from, signal) => executeCode(scope(), program, { ...REPLAYER, signal }, from),
  };
  const relateCapabilities = async () => {
    graph.relate(await capabilityAlternatives(remembering, shared.all()));
  };
  learnFromTraces({
    ports,
    background,
    traces,
    settings,
    graph,
    isShared,
    outputs,
    lessons,
    learning,
    suggestions: suggestions.log,
    relateCapabilities,
  });

  const offerTools = () => {
    const tools = catalogue.current();
    graph.offer((tool) => tools.get(tool) !== undefined);
    background.run('Comparing definitions', () => quarantineChanged(capabilities, tools));
  };
  offerTools();
  catalogue.onChange(offerTools);
  catalogue.onChange(learning.offer);

  const unsubscribe = upstream.subscribe((event) => {
    const refresh = (server: string) =>
      background.run(`Listing the tools of ${server}`, () => catalogue.refresh(server));
    if (event.type === 'state') {
      const { server, state, error } = event;
      const told = error && { ...error, message: String(ports.redact(error.message)) };
      events.emit({ type: 'server_state', server, state, error: told });
      if (state === 'ready') refresh(server);
    } else if (event.method === 'notifications/tools/list_changed') refresh(event.server);
  });

  const notePolicy = () => background.run('Writing down the policy', () => recordPolicy(ports, current));
  const learnModels = () => {
    if (!closing.signal.aborted) background.run('Learning plans and next steps', suggestions.refresh);
  };
  if (options.fillIn !== false) {
    notePolicy();
    await catalogue.fillIn();
    background.run('Relating capabilities', relateCapabilities);
    background.run('Recalling past runs', async (signal) => {
      learning.offer();
      await suggestions.recall();
      await learning.recall(signal);
      await suggestions.refresh(signal);
    });
    if (current.learning.enabled) background.run('Learning from traces stored meanwhile', graph.catchUp);
    background.run('Taking up runs that were left', () => takeUpAbandoned(scope(), activeRuns));
    if (isShared) {
      // Other gateways may leave runs while this one lives.
      void watchAbandoned(scope, activeRuns, closing.signal);
      // The holder of the trainer lock learns, also where only other gateways are asked.
      trainerLock.onChange((isHeld) => isHeld && learnModels());
      events.follow(({ event }) => event.type === 'ranker_trained' && learnModels());
    }
    trainerLock.seek();
    void watchRetention({ ports, programs, settings }, closing.signal);
  }

  const unfollow = ports.changes.follow(
    changeFollower({
      catalogue,
      outputs,
      capabilities,
      approvals,
      learned: [learning.ranker, ...suggestions.models],
      graph,
      learns: () => current.learning.enabled,
    }),
  );

  const searchGraph = graphForSearch(
    graph.current,
    catalogue.current,
    () => current.learning.alpha ?? 'adaptive',
  );
  const manage = manageCapabilities(lessons);
  return boundedGateway(begin, {
    store,
    events,
    settings,
    inventory: inventory.current,
    stats: () =>
      statsOf(store, catalogue.current(), current, inventory.current(), {
        speculation: activeRuns.speculation.figures(),
        loop: ports.loop?.figures() ?? NEVER_STILL,
      }),
    async searchTools(query) {
      const hits = await search(catalogue.current(), embedder, query, searchGraph, learning.search);
      if (!query.signatures) return hits;
      return hits.map((hit) => ({ ...hit, signature: toolSignature(hit.tool, outputs.of(hit.tool.id)) }));
    },
    async callableNames(caller) {
      const learned = await manage.list(caller);
      return {
        tools: catalogue.current().tools.map((tool) => ({ tool, observedOutput: outputs.of(tool.id) })),
        capabilities: learned.filter(({ state }) => state === 'active'),
      };
    },
    searchCapabilities: findCapabilities,
    suggest: suggestions.suggest,
    predictNext: suggestions.predictNext,
    rejectSuggestion: suggestions.log.reject,

    ...openRuns({ scope, activeRuns, suggestions, catalogue }),
    ...manageServers(ports, catalogue, settings),
    capabilities: manage,
    learning: learning.service,
    people: createPeopleService(ports),
    graph: createGraphService({
      live: graph,
      store,
      settings,
      catalogue: catalogue.current,
      capabilities: shared,
      relate: relateCapabilities,
      statisticsOf: learning.statisticsOf,
    }),

    async reload(next) {
      current = next;
      notePolicy();
      const changes = await upstream.reload(next.servers);
      await catalogue.reread();
      await catalogue.fillIn();
      events.emit({
        type: 'config_reloaded',
        file: next.file ?? '',
        servers: next.servers.map(({ name }) => name),
      });
      return changes;
    },
    settled: background.settled,
    async close() {
      unsubscribe();
      unfollow();
      // Told first, so that nothing new begins on what is about to close; waited for last.
      const stopped = background.stop();
      // Before their servers go: a run that is let go is taken up again later.
      closing.abort();
      await activeRuns.stopAll();
      await upstream.close();
      await ports.sandbox.close();
      await stopped;
      await ports.trainer.close();
      await ports.exporter?.close();
      await embedder.close();
    },
  });
}
