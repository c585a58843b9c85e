import { toolSignature } from '../core/capabilities/tool-signature.ts';
import type { TemplateEdge } from '../core/graph/templates.ts';
import type { Plan } from '../core/vocabulary/plan.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { createBackground } from './background.ts';
import { boundedGateway } from './bounded-gateway.ts';
import type { Caller } from './caller.ts';
import { createApprovals } from './calls/approvals.ts';
import { executeTool } from './calls/execute-tool.ts';
import { showExact } from './calls/show-approval.ts';
import {
  asSeenBy,
  openCapabilityRegistry,
  quarantineChanged,
  seenBy,
  sharedOnly,
} from './capabilities/capability-registry.ts';
import { manageCapabilities } from './capabilities/manage-capabilities.ts';
import { searchCapabilities } from './capabilities/search-capabilities.ts';
import { acceptServer, changesOfServer } from './catalogue/accept-server.ts';
import { type Catalogue, isOffered } from './catalogue/catalogue.ts';
import { inventoryLine, serverReports, statsOf } from './catalogue/inventory.ts';
import { openLiveCatalogue } from './catalogue/live-catalogue.ts';
import { openObservedOutputs } from './catalogue/observed-outputs.ts';
import { acceptedFace, asListed, defineTool } from './catalogue/refresh-catalogue.ts';
import { rememberingEmbedder } from './catalogue/remembering-embedder.ts';
import { search } from './catalogue/search.ts';
import type { CodeScope } from './code/code-scope.ts';
import { executeCapability, executeCode } from './code/execute-code.ts';
import type { Program, ResumePoint } from './code/program.ts';
import { createProgramCache } from './code/program.ts';
import type { FlowPorts } from './flow-ports.ts';
import { changeFollower } from './follow-changes.ts';
import type { Gateway } from './gateway.ts';
import { graphForSearch } from './graph/graph-for-search.ts';
import { capabilityAlternatives, createGraphService } from './graph/graph-service.ts';
import { openLiveGraph } from './graph/live-graph.ts';
import { createLearner, type Learner } from './learning/learn-from-trace.ts';
import { createNextMemory, predictNextStep } from './learning/next-memory.ts';
import { type Learning, openLearning } from './learning/open-learning.ts';
import { createPlanMemory } from './learning/plan-memory.ts';
import { suggest } from './learning/suggest.ts';
import { createSuggestionLog, runSuggested, type SuggestedRun } from './learning/suggestion-log.ts';
import { recordPolicy } from './people/audit-trail.ts';
import { createPeopleService } from './people/people-service.ts';
import type { LoopFigures } from './ports/process.ts';
import type { Settings, UpstreamTool } from './ports.ts';
import { continueRun } from './runs/continue-run.ts';
import { editCall } from './runs/edit-call.ts';
import { executeIntent } from './runs/execute-intent.ts';
import { settleRun } from './runs/paused-runs.ts';
import { createJournaledQueue } from './traces/journaled-queue.ts';
import { watchRetention } from './traces/retain-traces.ts';
import { createTraceQueue } from './traces/trace-queue.ts';
import { createActiveRuns } from './workflow/active-runs.ts';
import { executeAsPlan, planFromCode } from './workflow/execute-as-plan.ts';
import { executeWorkflow } from './workflow/execute-workflow.ts';
import { takeUpAbandoned, watchAbandoned } from './workflow/resume-run.ts';

const DEFAULTS = {
  /** Tools looked at when a plan is suggested. */
  suggestFrom: 10,
};

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

/** Wires the flows to their ports; each method is one flow. */
export async function createGateway(
  ports: FlowPorts,
  initial: Settings,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const { store, upstream, embedder, sandbox, exporter, events, logger } = ports;
  let settings = initial;
  const begin = (what: string) => ports.loop?.begin(what);
  const background = createBackground(logger, begin);
  const approvals = createApprovals(ports);
  const programs = createProgramCache();
  const watching = new AbortController();
  const activeRuns = createActiveRuns(ports.crypto.randomUuid, options.leaseMs);
  const remembering = rememberingEmbedder(embedder);
  const outputs = await openObservedOutputs(store);
  const isShared = settings.store.url !== null;
  let learning: Learning | null = null;
  let learner: Learner | null = null;
  const graph = await openLiveGraph({
    ports,
    programs,
    templates: options.templates ?? [],
    // What nobody else writes to holds nothing that is news.
    ...(isShared && { onLearned: (traces) => learner?.hear(traces) }),
  });
  let inventory = '';
  const tellInventory = (current: Catalogue) => {
    const line = inventoryLine(settings, current, shared.all());
    if (line === inventory) return;
    inventory = line;
    events.emit({ type: 'inventory_changed', inventory });
  };
  const capabilities = await openCapabilityRegistry(ports, () => tellInventory(catalogue.current()));
  /** What all learn from and see: the graph, the ranker and the list of tools are nobody's own. */
  const shared = sharedOnly(capabilities);
  const catalogue = await openLiveCatalogue(
    ports,
    background,
    () => settings,
    (current) => {
      tellInventory(current);
      graph.offer((tool) => current.get(tool) !== undefined);
      learning?.offer();
      background.run('Comparing definitions', () => quarantineChanged(capabilities, current));
    },
  );
  const lessons = {
    ports,
    background,
    capabilities,
    programs,
    catalogue: catalogue.current,
    run: (program: Program, standing: ResumePoint, signal: AbortSignal) =>
      executeCode(scope(), program, { ...REPLAYER, signal }, standing),
  };
  const relateCapabilities = async () => {
    graph.relate(await capabilityAlternatives(remembering, shared.all()));
  };
  const suggestions = createSuggestionLog(ports);
  learning = openLearning({
    ports,
    background,
    catalogue: catalogue.current,
    capabilities: shared.all,
    remembering,
    isEnabled: () => settings.learning.enabled,
  });
  const taught = createLearner({
    ports,
    background,
    settings: () => settings,
    graph,
    outputs,
    lessons,
    learning,
    suggestions,
    relateCapabilities,
  });
  learner = taught;
  const learned = learning;
  const plans = createPlanMemory({
    ports,
    runs: learned.ranker.runs,
    ranker: learned.ranker.current,
    graph: graph.current,
    catalogue: catalogue.current,
    takenOut: suggestions.takenOut,
  });
  const next = createNextMemory({
    ports,
    runs: learned.ranker.runs,
    beliefIn: learned.ranker.beliefIn,
    ranker: learned.ranker.current,
  });
  const learnMore = async (signal: AbortSignal) => {
    await plans.refresh(signal);
    await next.refresh(signal);
  };
  /** Whoever has the trainer lock learns, also where only others are asked. */
  const learnForAll = () => {
    const learn = () => {
      if (!watching.signal.aborted) background.run('Learning plans and next steps', learnMore);
    };
    ports.trainerLock.onChange((isHeld) => isHeld && learn());
    events.follow(({ event }) => event.type === 'ranker_trained' && learn());
  };
  const searchByText = (query: string) =>
    search(catalogue.current(), embedder, { query, limit: DEFAULTS.suggestFrom });
  const hooks = { onStoring: taught.expect, onStored: taught.take };
  const traces = ports.journal
    ? createJournaledQueue(ports, ports.journal, background, hooks)
    : createTraceQueue(ports, background, hooks);
  const scope = (): CodeScope => ({
    ports,
    approvals,
    traces,
    settings,
    capabilities,
    programs,
    findTool: catalogue.find,
  });

  /** As a person has accepted it: a model reads what it is shown here. A tool that is new is accepted as it is. */
  const asAccepted = (server: string, tool: UpstreamTool): UpstreamTool => {
    const now = defineTool(server, tool, ports.crypto);
    const accepted = catalogue.current().get(now.id)?.tool;
    return accepted && accepted.definitionHash !== now.definitionHash ? asListed(accepted) : tool;
  };
  const searchGraph = graphForSearch(graph.current, catalogue.current);
  const findCapabilities = (query: string, limit: number, caller: Pick<Caller, 'who'> = {}) =>
    searchCapabilities(seenBy(capabilities, caller).all(), embedder, remembering, query, limit);

  const runPlan = (request: SuggestedRun, caller: Caller) =>
    runSuggested(suggestions, request, (run) => executeWorkflow(scope(), activeRuns, run, caller));
  const suggestFor = async (intent: string, caller?: Caller) => {
    await learned.prepare();
    await plans.recall();
    await suggestions.recall();
    const parts = {
      embedder,
      catalogue: catalogue.current(),
      graph: graph.current(),
      capabilities: seenBy(capabilities, caller ?? {}).all(),
      plans,
    };
    const suggested = await suggest(parts, intent);
    background.run('Learning plans', plans.refresh);
    const id = await suggestions.keep(intent, suggested.plan, suggested.confidence, caller);
    return { id, ...suggested, suggestedCapabilities: await findCapabilities(intent, 3, caller) };
  };

  const unsubscribe = upstream.subscribe((event) => {
    if (event.type === 'state') {
      const { server, state, error } = event;
      const told = error && { ...error, message: String(ports.redact(error.message)) };
      events.emit({ type: 'server_state', server, state, error: told });
      if (state === 'ready')
        background.run(`Listing the tools of ${server}`, () => catalogue.refresh(server));
    } else if (event.method === 'notifications/tools/list_changed') {
      background.run(`Listing the tools of ${event.server}`, () => catalogue.refresh(event.server));
    }
  });
  const notePolicy = () => background.run('Writing down the policy', () => recordPolicy(ports, settings));
  if (options.fillIn !== false) {
    notePolicy();
    await catalogue.fillIn();
    background.run('Relating capabilities', relateCapabilities);
    background.run('Recalling past runs', async (signal) => {
      learned.offer();
      await plans.recall();
      await next.recall();
      await learned.recall(signal);
      await learnMore(signal);
    });
    if (settings.learning.enabled) background.run('Learning from traces stored meanwhile', graph.catchUp);
    background.run('Taking up runs that were left', () => takeUpAbandoned(scope(), activeRuns));
    // On a store of many, others may leave runs while this one lives.
    if (isShared) void watchAbandoned(scope, activeRuns, watching.signal);
    if (isShared) learnForAll();
    ports.trainerLock.seek();
    void watchRetention({ ports, programs, settings: () => settings }, watching.signal);
  }
  const unfollow = ports.changes.follow(
    changeFollower({
      catalogue,
      outputs,
      capabilities,
      approvals,
      learned: [learned.ranker, plans, next],
      graph,
      learns: () => settings.learning.enabled,
    }),
  );

  return boundedGateway(begin, {
    store,
    events,
    settings: () => settings,
    servers: async () => serverReports(upstream.servers(), catalogue.current()),
    stats: () =>
      statsOf(store, catalogue.current(), settings, inventory, {
        speculation: activeRuns.speculation.figures(),
        loop: ports.loop?.figures() ?? NEVER_STILL,
      }),
    inventory: () => inventory,

    async searchTools(query) {
      const hits = await search(catalogue.current(), embedder, query, searchGraph, learned.search);
      if (!query.signatures) return hits;
      return hits.map((hit) => ({ ...hit, signature: toolSignature(hit.tool, outputs.of(hit.tool.id)) }));
    },
    searchCapabilities: (query, limit, caller) => findCapabilities(query, limit, caller),
    suggest: suggestFor,
    rejectSuggestion: (id) => suggestions.reject(id),
    async predictNext(intent, executed) {
      await learned.prepare();
      await next.recall();
      const steps = await predictNextStep({ embedder, next, search: searchByText }, intent, executed);
      background.run('Learning what comes next', next.refresh);
      return steps;
    },

    executeTool: (call, caller) => executeTool(scope(), call, caller),
    executeCode: ({ code, arguments: args = {}, ...rest }, caller) =>
      executeCode(scope(), { source: code, args, ...rest }, caller),
    executeCapability: (call, caller) => executeCapability(scope(), call, caller),
    capabilities: manageCapabilities(lessons),
    learning: learned.service,
    people: createPeopleService(ports),
    graph: createGraphService({
      live: graph,
      store,
      settings: () => settings,
      catalogue: catalogue.current,
      capabilities: shared,
      relate: relateCapabilities,
    }),
    executeWorkflow: (plan, intent, caller, runId = ports.crypto.randomUuid(), suggestionId) =>
      runPlan({ plan, intent, runId, suggestionId }, caller),
    async executeSuggestion(suggestionId, args, caller, runId = ports.crypto.randomUuid()) {
      const { plan } = await suggestions.get(suggestionId);
      const given = { ...plan, arguments: { ...plan.arguments, ...args } };
      return await runPlan({ plan: given, intent: null, runId, suggestionId }, caller);
    },
    planFromCode: (code, args) => planFromCode(scope(), code, args),
    executeAsPlan: (call, caller, runId) => executeAsPlan(scope(), activeRuns, call, caller, runId),
    executeIntent: (call, caller, runId = ports.crypto.randomUuid()) => {
      // The suggestion stays open: that PML runs it does not mean that anybody took it.
      const run = (plan: Plan) =>
        executeWorkflow(
          scope(),
          activeRuns,
          { plan, intent: call.intent, runId },
          { ...caller, origin: 'self' },
        );
      return executeIntent({ scope: asSeenBy(scope(), caller), suggest: suggestFor, run }, call, caller);
    },
    continueRun: (runId, action, caller) => continueRun(scope(), activeRuns, runId, action, caller),

    async runs(limit) {
      const runs = await store.runs.list(limit);
      return await Promise.all(
        runs.map(async (run) => ({ run, approvals: await store.approvals.list({ runId: run.id }) })),
      );
    },
    settleApproval: (runId, decision, by, approvalIds, acceptDefinition = false) =>
      settleRun(
        { ports, approvals, catalogue },
        { runId, decision, by, acceptDefinition, ...(approvalIds && { approvalIds }) },
      ),
    showExact: async (runs) => {
      const parts = { ports, calls: approvals.calls, catalogue: catalogue.current };
      return runs.map((run) => showExact(parts, run));
    },

    editCall: (runId, edit) => editCall(scope(), runId, edit),

    request: (server, method, params, caller, meta, passInputRequired) =>
      upstream.request(server, method, params, {
        ...(caller.signal && { signal: caller.signal }),
        ...(caller.onProgress && { onProgress: caller.onProgress }),
        ...(caller.client && { client: caller.client }),
        ...(caller.who && { user: caller.who.user }),
        ...(meta && { meta }),
        ...(passInputRequired && { passInputRequired }),
      }),
    notify: (server, method, params, user) => upstream.notify(server, method, params, user),
    async identity(server, { signal }) {
      const started = await upstream.start(server, signal && { signal });
      const known = (await store.servers.list()).find(({ name }) => name === server);
      if (!started.ok || !known) return started;
      return { ok: true, value: acceptedFace(started.value, known.identity) };
    },
    async rawTools(server, { signal }) {
      const listed = await upstream.catalogue(server, signal && { signal });
      if (!listed.ok) return listed;
      const rules = settings.servers.find(({ name }) => name === server);
      const offered = listed.value.filter((tool) => isOffered(tool, rules));
      return { ok: true, value: offered.map((tool) => asAccepted(server, tool)) };
    },
    onUpstream: (listener) => upstream.subscribe(listener),
    forgetClient: (clientId) => upstream.forgetClient(clientId),

    changesOfServer: (server) => changesOfServer({ ports, catalogue }, known(settings, server)),
    acceptServer: (server, by, hash) => acceptServer({ ports, catalogue }, known(settings, server), by, hash),
    restart: (server) => upstream.restart(known(settings, server)),
    logs: (server) => upstream.logs(known(settings, server)).map((line) => String(ports.redact(line))),
    login: (server, redirectUrl, user) => upstream.login(known(settings, server), redirectUrl, user),
    keepCredentials: (server, user, credentials) => upstream.keep(known(settings, server), user, credentials),
    async reload(next) {
      settings = next;
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
    settled: () => background.settled(),
    async close() {
      unsubscribe();
      unfollow();
      // Told first, so that nothing new begins on what is about to close; waited for last.
      const stopped = background.stop();
      // Before their servers go: a run that is let go is taken up again later.
      watching.abort();
      await activeRuns.stopAll();
      await upstream.close();
      await sandbox.close();
      await stopped;
      await ports.trainer.close();
      await exporter?.close();
      await embedder.close();
    },
  });
}

function known(settings: Settings, server: string): string {
  if (settings.servers.some(({ name }) => name === server)) return server;
  const names = settings.servers.map(({ name }) => name).join(', ');
  throw new PmlError('not_found', `There is no server ${server}`, {
    hint: names === '' ? 'None are configured.' : `There are: ${names}.`,
  });
}
