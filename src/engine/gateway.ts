import type { CallableNames } from '../core/capabilities/guest-types.ts';
import { toolSignature } from '../core/capabilities/tool-signature.ts';
import type { TemplateEdge } from '../core/graph/templates.ts';
import type { ToolId } from '../core/vocabulary/ids.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { TraceEvent } from '../core/vocabulary/trace-event.ts';
import { type AlertService, openAlerts } from './alerts.ts';
import { createBackground } from './background.ts';
import type { Caller } from './caller.ts';
import { createAdmissions } from './calls/admissions.ts';
import { createApprovals } from './calls/approvals.ts';
import {
  isUnlisted,
  openCapabilityRegistry,
  seenBy,
  sharedOnly,
} from './capabilities/capability-registry.ts';
import type { CapabilityLessons } from './capabilities/learn-capability.ts';
import { createPartLearner } from './capabilities/learn-parts.ts';
import { type CapabilityService, manageCapabilities } from './capabilities/manage-capabilities.ts';
import { createProver } from './capabilities/prove-capability.ts';
import { type DriftReport, driftOf, quarantineChanged } from './capabilities/quarantine-changed.ts';
import { createRetester } from './capabilities/retest-changed.ts';
import { type CapabilityHit, searchCapabilities } from './capabilities/search-capabilities.ts';
import { catalogueFor, openLiveCatalogue } from './catalogue/catalogue.ts';
import { rememberingEmbedder } from './catalogue/embed-catalogue.ts';
import { type GatewayStats, openInventory, statsOf } from './catalogue/inventory.ts';
import { manageServers, type ServerService } from './catalogue/manage-servers.ts';
import { openObservedOutputs } from './catalogue/observed-outputs.ts';
import {
  createBriefs,
  type HiddenTools,
  hiddenTools,
  type SearchHit,
  type SearchQuery,
  search,
} from './catalogue/search.ts';
import { createProgramCache } from './code/program.ts';
import type { FlowPorts } from './flow-ports.ts';
import { followChanges } from './follow-changes.ts';
import { capabilityAlternatives, createGraphService, type GraphService } from './graph/graph-service.ts';
import { graphForSearch, openLiveGraph } from './graph/live-graph.ts';
import { learnFromTraces } from './learning/learn-from-trace.ts';
import type { LearningService } from './learning/learning-service.ts';
import type { NextStep } from './learning/next-memory.ts';
import { openLearning } from './learning/open-learning.ts';
import type { RunRisk } from './learning/success-watch.ts';
import { openSuggestions, type Suggestion } from './learning/suggest.ts';
import { recordPolicy } from './people/audit-trail.ts';
import { createPeopleService, type PeopleService } from './people/people-service.ts';
import { isRestricted, mayUseTool } from './people/roles.ts';
import type { LoopFigures, Settings, Store, UpstreamChanges } from './ports.ts';
import { openRuns } from './runs/open-runs.ts';
import type { RunScope } from './runs/run-scope.ts';
import type { RunService } from './runs/run-service.ts';
import type { EventLog } from './traces/event-log.ts';
import { segmentGap } from './traces/jobs.ts';
import { openTraces } from './traces/open-traces.ts';
import { watchRetention } from './traces/retain-traces.ts';
import { takeUpAbandoned, watchAbandoned } from './workflow/abandoned-runs.ts';
import { createActiveRuns } from './workflow/active-runs.ts';

const DEFAULTS = {
  /** In characters. More than anybody says of one job; it is kept, split into clauses and embedded. */
  maxIntent: 16_384,
  /** Of a query; how much of it is read is the search's business. */
  maxQuery: 65_536,
  /** Of a tool's or a capability's name. */
  maxName: 1_024,
};

export type { Caller } from './caller.ts';

/** The composed engine: everything a surface may ask of it. */
export interface Gateway extends RunService, ServerService {
  readonly store: Store;
  readonly events: EventLog;
  readonly capabilities: CapabilityService;
  readonly graph: GraphService;
  readonly learning: LearningService;
  readonly people: PeopleService;
  readonly alerts: AlertService;
  settings(): Settings;
  stats(): Promise<GatewayStats>;
  /** One line for instructions: which servers and how many tools the caller has. Stable between changes. */
  inventory(caller?: Pick<Caller, 'who'>): string;

  /** All that a program of this caller can call, in order of id and slug. */
  callableNames(caller?: Pick<Caller, 'who'>): Promise<CallableNames>;
  /** Of those that this caller may use. */
  searchTools(query: SearchQuery, caller?: Pick<Caller, 'who'>): Promise<SearchHit[]>;
  /** Tools that a search for their own description does not find first. */
  hiddenTools(): Promise<HiddenTools>;
  /** Tools that changed so that calls or programs may break, with the capabilities of this caller that rest on them. */
  drift(caller?: Pick<Caller, 'who'>): Promise<DriftReport[]>;
  /** Of those that this caller may see. */
  searchCapabilities(query: string, limit: number, caller?: Pick<Caller, 'who'>): Promise<CapabilityHit[]>;
  suggest(intent: string, caller?: Caller): Promise<Suggestion>;
  /** False when it is settled already. */
  rejectSuggestion(id: string): Promise<boolean>;
  predictNext(intent: string, executed: readonly string[], caller?: Pick<Caller, 'who'>): Promise<NextStep[]>;
  /** What past runs say of one under way; null where they say nothing, or nothing to worry about. */
  riskOf(events: readonly TraceEvent[]): Promise<RunRisk | null>;
  /** The same of the single calls that the caller's session is at. */
  riskOfJob(caller: Caller): Promise<RunRisk | null>;

  reload(settings: Settings): Promise<UpstreamChanges>;
  /** Resolves when everything under way (traces, catalogue, embeddings) has been stored. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

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

  const outputs = await openObservedOutputs(ports);
  const graph = await openLiveGraph({
    ports,
    programs,
    templates: options.templates ?? [],
    gapMs: () => segmentGap(current),
  });
  const capabilities = await openCapabilityRegistry(ports);
  /** The graph, the ranker and the list of tools are for all users: they know of what is shared. */
  const shared = sharedOnly(capabilities);
  const listed = { ...shared, all: () => shared.all().filter((one) => !isUnlisted(one)) };
  const catalogue = await openLiveCatalogue(ports, background, settings);
  const inventory = openInventory(events, settings, catalogue);
  const approvals = createApprovals(ports, isShared);
  const admissions = createAdmissions(ports);
  const activeRuns = createActiveRuns(ports.crypto.randomUuid, options.leaseMs);
  const traces = openTraces(ports, background);
  const learning = openLearning({
    ports,
    background,
    catalogue: catalogue.current,
    capabilities: listed.all,
    remembering,
    isEnabled: () => current.learning.enabled,
    gapMs: () => segmentGap(current),
    closing: closing.signal,
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
  const scope = (): RunScope => ({
    ports,
    approvals,
    admissions,
    traces,
    settings: current,
    capabilities,
    programs,
    findTool: catalogue.find,
  });
  const runs = openRuns({ scope, activeRuns, suggestions, catalogue });
  const prover = createProver(scope, catalogue.current);
  const lessons: CapabilityLessons = {
    ports,
    prove: prover.prove,
    background,
    capabilities,
    programs,
    catalogue: catalogue.current,
    run: (call, onlyTools, signal) => runs.executeCode(call, { ...REPLAYER, onlyTools, signal }),
  };
  const relateCapabilities = async () => {
    graph.relate(await capabilityAlternatives(remembering, listed.all()));
  };
  const learner = learnFromTraces({
    ports,
    background,
    traces,
    settings,
    graph,
    isShared,
    outputs,
    lessons,
    parts: createPartLearner(lessons),
    learning,
    suggestions: suggestions.log,
    relateCapabilities,
  });

  const retest = createRetester({
    ports,
    background,
    capabilities,
    prover,
    scope,
    catalogue: catalogue.current,
    drifts: outputs.drifts,
  });
  const compareTools = async () => {
    retest(await quarantineChanged(capabilities, catalogue.current(), outputs.drifts()));
  };
  outputs.onDrift(compareTools);
  const offerTools = () => {
    const tools = catalogue.current();
    graph.offer((tool) => tools.get(tool) !== undefined);
    background.run('Comparing definitions', compareTools);
  };
  offerTools();
  catalogue.onChange(offerTools);
  catalogue.onChange(learning.offer);

  const alerts = openAlerts({
    ports,
    background,
    settings,
    drift: () => driftOf(catalogue.current(), outputs, capabilities),
  });
  const notePolicy = () => background.run('Recording the policy', () => recordPolicy(ports, current));
  const learnModels = () => {
    if (!closing.signal.aborted) background.run('Learning plans and next steps', suggestions.refresh);
  };
  if (options.fillIn !== false) {
    notePolicy();
    await catalogue.fillIn();
    background.run('Relating capabilities', relateCapabilities);
    background.run('Loading past runs', async (signal) => {
      learning.offer();
      await suggestions.recall();
      await learning.recall(signal);
      await suggestions.refresh(signal);
    });
    if (current.learning.enabled) background.run('Learning from traces stored meanwhile', graph.catchUp);
    background.run('Resuming abandoned runs', () => takeUpAbandoned(scope(), activeRuns));
    if (isShared) {
      // Other gateways may leave runs while this one lives.
      void watchAbandoned(scope, activeRuns, closing.signal);
      // The holder of the trainer lock learns, also where only other gateways are asked.
      trainerLock.onChange((isHeld) => isHeld && learnModels());
      events.follow(({ event }) => event.type === 'ranker_trained' && learnModels());
    }
    trainerLock.seek();
    void catalogue.retryMissing(closing.signal);
    void alerts.watch(closing.signal);
    void watchRetention({ ports, programs, settings }, closing.signal);
  }

  const unfollow = followChanges({
    ports,
    background,
    catalogue,
    outputs,
    capabilities,
    approvals,
    learned: [learning.ranker, ...suggestions.models],
    graph,
    learns: () => current.learning.enabled,
  });

  const searchGraph = graphForSearch(
    graph.current,
    catalogue.current,
    () => current.learning.alpha ?? 'adaptive',
  );
  const briefOf = createBriefs(outputs);
  const manage = manageCapabilities({ ...lessons, prover });
  return bounded(begin, {
    store,
    events,
    settings,
    inventory: inventory.current,
    stats: () =>
      statsOf(store, catalogue.current(), current, inventory.current(), {
        speculation: activeRuns.speculation.figures(),
        loop: ports.loop?.figures() ?? NEVER_STILL,
      }),
    async searchTools(asked, { who } = {}) {
      await catalogue.complete();
      const seen = catalogueFor(catalogue.current(), who?.scope);
      const { explain: _, ...unexplained } = asked;
      // What explains a rank are past runs, with whatever they called.
      const query = who && isRestricted(who) ? unexplained : asked;
      const found = await search(seen, embedder, query, searchGraph, learning.search);
      const hits = found.map((hit) => ({
        ...hit,
        related: hit.related.filter(({ toolId }) => mayUseTool(who?.scope, toolId as ToolId)),
      }));
      if (!query.signatures && !query.brief) return hits;
      return hits.map((hit) => ({
        ...hit,
        ...(query.signatures && { signature: toolSignature(hit.tool, outputs.of(hit.tool.id)) }),
        ...(query.brief && { brief: briefOf(hit.tool) }),
      }));
    },
    hiddenTools: () => hiddenTools(catalogue.current(), embedder),
    async callableNames(caller) {
      const learned = await manage.list(caller);
      return {
        tools: catalogueFor(catalogue.current(), caller?.who?.scope).tools.map((tool) => ({
          tool,
          observedOutput: outputs.of(tool.id),
        })),
        capabilities: learned.filter((one) => one.state === 'active' && !isUnlisted(one)),
      };
    },
    drift: async (caller = {}) => driftOf(catalogue.current(), outputs, seenBy(capabilities, caller)),
    async searchCapabilities(...question) {
      await learner.admitted();
      return await findCapabilities(...question);
    },
    async suggest(intent, caller) {
      await catalogue.complete();
      return await suggestions.suggest(intent, caller);
    },
    predictNext: suggestions.predictNext,
    riskOf: async (events) => learning.riskOf(events),
    riskOfJob: ({ sessionId, who }) => learning.riskOfJob(sessionId, who?.user ?? null),
    rejectSuggestion: suggestions.log.reject,

    ...runs,
    ...manageServers(ports, catalogue, settings),
    capabilities: manage,
    learning: learning.service,
    people: createPeopleService(ports),
    alerts,
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

/**
 * Texts come from anybody: their length is checked before anything reads them. Code is bounded by its parser, as a run
 * that fails.
 */
const CHECKS: { readonly [Name in Checked]: (...args: Parameters<Gateway[Name]>) => void } = {
  searchTools({ query, server, contextTools = [] }) {
    checkQuery(query);
    for (const name of [server, ...contextTools]) checkName(name);
  },
  searchCapabilities: checkQuery,
  suggest: checkIntent,
  predictNext(intent, executed) {
    checkIntent(intent);
    for (const name of executed) checkName(name);
  },
  executeTool({ tool, intent }) {
    checkName(tool);
    checkIntent(intent);
  },
  executeCode: ({ intent }) => checkIntent(intent),
  executeCapability({ capability, intent }) {
    checkName(capability);
    checkIntent(intent);
  },
  executeWorkflow: (_plan, intent) => checkIntent(intent ?? undefined),
  planFromCode() {},
  executeAsPlan: ({ intent }) => checkIntent(intent),
  executeIntent: ({ intent }) => checkIntent(intent),
};

type Checked =
  | 'searchTools'
  | 'searchCapabilities'
  | 'suggest'
  | 'predictNext'
  | 'executeTool'
  | 'executeCode'
  | 'executeCapability'
  | 'executeWorkflow'
  | 'planFromCode'
  | 'executeAsPlan'
  | 'executeIntent';

/** Tells what begins, by its kind alone, once its texts are checked. */
function bounded(begin: (what: string) => void, gateway: Gateway): Gateway {
  type Method = (...args: unknown[]) => Promise<unknown>;
  const methods = (Object.keys(CHECKS) as Checked[]).map((name): [string, Method] => {
    const what = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const check = CHECKS[name] as (...args: unknown[]) => void;
    const run = gateway[name] as Method;
    return [
      name,
      async (...args) => {
        check(...args);
        begin(what);
        return await run(...args);
      },
    ];
  });
  return { ...gateway, ...Object.fromEntries(methods) };
}

export function checkIntent(intent: string | undefined): void {
  check(
    'intent',
    intent,
    DEFAULTS.maxIntent,
    'Describe what you want in a few sentences; pass data as arguments.',
  );
}

function checkQuery(query: string): void {
  check('query', query, DEFAULTS.maxQuery, 'Describe the tool in a few words.');
}

function checkName(name: string | undefined): void {
  check('name', name, DEFAULTS.maxName, 'Names come from pml_search_tools and pml_search_capabilities.');
}

function check(what: string, text: string | undefined, most: number, hint: string): void {
  if (text === undefined || text.length <= most) return;
  const message = `The ${what} has ${text.length} characters; at most ${most} are allowed`;
  throw new PmlError('too_large', message, { hint });
}
