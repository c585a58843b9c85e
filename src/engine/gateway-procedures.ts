import type { Plan } from '../core/vocabulary/plan.ts';
import type {
  Caller,
  CapabilityCall,
  CodeCall,
  CodeRun,
  Gateway,
  IntentCall,
  IntentRun,
  PlannedRun,
  WorkflowResult,
} from './gateway.ts';
import type { RebuildProgress, RebuiltGraph } from './graph/graph-service.ts';
import type { GraphReport } from './graph/graph-view.ts';
import type { LearningReport } from './learning/learning-service.ts';
import type { PeopleService as PeopleShelf } from './people/people-service.ts';
import type {
  Bridge,
  Capability,
  RemoteProcedures,
  UpstreamFailure,
  UpstreamLogin,
  UpstreamReply,
} from './ports.ts';
import { findRun, type PendingRun as RunInQuestion, recentRuns, waitingRuns } from './runs/pending-runs.ts';

/** Where to send the browser; `done` when nobody has to be sent. */
export type LoginStep = { readonly done: true } | { readonly done: false; readonly authorizationUrl: string };

export interface AsPlanCall extends CodeCall {
  readonly runId: string;
}

export interface WorkflowCall {
  readonly plan: Plan;
  readonly intent: string | null;
  readonly runId: string;
  readonly suggestionId?: string;
}

/** What a command asks of the gateway, which may run in another process: data in, data out. */
export interface GatewayClient
  extends Pick<
    Gateway,
    | 'servers'
    | 'stats'
    | 'searchTools'
    | 'suggest'
    | 'predictNext'
    | 'rejectSuggestion'
    | 'planFromCode'
    | 'settleApproval'
    | 'editCall'
    | 'restart'
    | 'changesOfServer'
    | 'acceptServer'
  > {
  /** For a person in a terminal: no client to ask, no session. */
  runCode(call: CodeCall, signal?: AbortSignal): Promise<CodeRun>;
  runCapability(call: CapabilityCall, signal?: AbortSignal): Promise<CodeRun>;
  /** Under a run id of the caller's choice, so that it can be looked at meanwhile. */
  runWorkflow(call: WorkflowCall, signal?: AbortSignal): Promise<WorkflowResult>;
  /** What an intent alone leads to. */
  runIntent(call: IntentCall & { readonly runId: string }, signal?: AbortSignal): Promise<IntentRun>;
  runAsPlan(call: AsPlanCall, signal?: AbortSignal): Promise<PlannedRun>;
  /** What a person decided about may go on. */
  resumeRun(runId: string, signal?: AbortSignal): Promise<WorkflowResult>;
  abortRun(runId: string): Promise<WorkflowResult>;
  importCapability(files: Readonly<Record<string, string>>): Promise<Capability>;
  graphStats(): Promise<GraphReport>;
  rebuildGraph(): Promise<RebuiltGraph>;
  rebuildingGraph(): Promise<RebuildProgress | null>;
  learningReport(): Promise<LearningReport>;
  trainRanker(signal?: AbortSignal): Promise<LearningReport>;
  /** Stops the current training, no matter who started it; the ranker stays as it was. */
  stopTraining(): Promise<void>;
  rollBackRanker(): Promise<LearningReport>;
  createKey: PeopleShelf['createKey'];
  keys: PeopleShelf['keys'];
  revokeKey: PeopleShelf['revokeKey'];
  audit: PeopleShelf['audit'];
  waitingRuns(): Promise<RunInQuestion[]>;
  recentRuns(limit: number): Promise<RunInQuestion[]>;
  findRun(runId: string): Promise<RunInQuestion | null>;
  logs(server: string): Promise<readonly string[]>;
  keepCredentials: Gateway['keepCredentials'];
  loginStart(server: string, redirectUrl: string, user?: string): Promise<UpstreamReply<LoginStep>>;
  /** With the full URL the browser came back to. */
  loginFinish(server: string, callbackUrl: string, user?: string): Promise<UpstreamReply<null>>;
}

/** Every method that another process may call; the type refuses a list that is not complete. */
const GATEWAY_METHODS: { readonly [M in keyof GatewayClient]: true } = {
  servers: true,
  stats: true,
  searchTools: true,
  suggest: true,
  predictNext: true,
  rejectSuggestion: true,
  runCode: true,
  runCapability: true,
  runWorkflow: true,
  runAsPlan: true,
  runIntent: true,
  planFromCode: true,
  resumeRun: true,
  abortRun: true,
  importCapability: true,
  graphStats: true,
  rebuildGraph: true,
  rebuildingGraph: true,
  learningReport: true,
  trainRanker: true,
  stopTraining: true,
  rollBackRanker: true,
  createKey: true,
  keys: true,
  revokeKey: true,
  audit: true,
  waitingRuns: true,
  recentRuns: true,
  findRun: true,
  settleApproval: true,
  editCall: true,
  restart: true,
  changesOfServer: true,
  acceptServer: true,
  logs: true,
  keepCredentials: true,
  loginStart: true,
  loginFinish: true,
};

/** No client behind the call: the person is told what is asked, and answers with "pml runs". */
const terminal = (signal?: AbortSignal): Caller => ({
  sessionId: null,
  isAtTerminal: true,
  isPerson: true,
  ...(signal && { signal }),
});

/** For work that makes no sense any more when the command that asked for it was ended. */
const cancellable = <A, R>(work: (asked: A, signal?: AbortSignal) => Promise<R>) =>
  Object.assign(work, { isCancellable: true as const });

/** The room in which a holder offers its gateway. */
const ROOM = 'gateway';

/** What a holder offers of its gateway. */
export function gatewayProcedures(gateway: Gateway): RemoteProcedures {
  return { [ROOM]: { ...gatewayClient(gateway) } };
}

/** The gateway behind a bridge, in this process or another. */
export function remoteGateway(bridge: Bridge): GatewayClient {
  const methods = Object.keys(GATEWAY_METHODS).map((method) => [
    method,
    (...args: unknown[]) => bridge.call(ROOM, method, args),
  ]);
  return Object.fromEntries(methods) as GatewayClient;
}

function gatewayClient(gateway: Gateway): GatewayClient {
  // One login at a time per server and user: a new one makes the old link worthless anyway.
  const logins = new Map<string, Extract<UpstreamLogin, { done: false }>>();
  return {
    servers: () => gateway.servers(),
    stats: () => gateway.stats(),
    searchTools: (query) => gateway.searchTools(query),
    suggest: (intent) => gateway.suggest(intent),
    predictNext: (intent, executed) => gateway.predictNext(intent, executed),
    rejectSuggestion: (id) => gateway.rejectSuggestion(id),
    runCode: cancellable((call, signal) => gateway.executeCode(call, terminal(signal))),
    runCapability: cancellable((call, signal) => gateway.executeCapability(call, terminal(signal))),
    runWorkflow: cancellable(({ plan, intent, runId, suggestionId }, signal) =>
      gateway.executeWorkflow(plan, intent, terminal(signal), runId, suggestionId),
    ),
    runAsPlan: cancellable(({ runId, ...call }, signal) =>
      gateway.executeAsPlan(call, terminal(signal), runId),
    ),
    runIntent: cancellable(({ runId, ...call }, signal) =>
      gateway.executeIntent(call, terminal(signal), runId),
    ),
    planFromCode: (code, args) => gateway.planFromCode(code, args),
    resumeRun: cancellable((runId, signal) => gateway.continueRun(runId, 'resume', terminal(signal))),
    abortRun: (runId) => gateway.continueRun(runId, 'abort', terminal()),
    importCapability: (files) => gateway.capabilities.import(files),
    graphStats: () => gateway.graph.stats(),
    rebuildGraph: () => gateway.graph.rebuild(),
    rebuildingGraph: () => gateway.graph.rebuilding(),
    learningReport: () => gateway.learning.report(),
    trainRanker: Object.assign((signal?: AbortSignal) => gateway.learning.train(signal), {
      isCancellable: true as const,
    }),
    stopTraining: () => gateway.learning.stop(),
    rollBackRanker: () => gateway.learning.rollBack(),
    createKey: (order) => gateway.people.createKey(order),
    keys: () => gateway.people.keys(),
    revokeKey: (idOrName, by) => gateway.people.revokeKey(idOrName, by),
    audit: (query) => gateway.people.audit(query),
    waitingRuns: async () => gateway.showExact(await waitingRuns(gateway.store)),
    recentRuns: async (limit) => gateway.showExact(await recentRuns(gateway.store, limit)),
    async findRun(runId) {
      const found = await findRun(gateway.store, runId);
      return found && ((await gateway.showExact([found]))[0] ?? null);
    },
    settleApproval: (...decision) => gateway.settleApproval(...decision),
    editCall: (runId, edit) => gateway.editCall(runId, edit),
    restart: (server) => gateway.restart(server),
    changesOfServer: (server) => gateway.changesOfServer(server),
    acceptServer: (...accepted) => gateway.acceptServer(...accepted),
    logs: async (server) => gateway.logs(server),

    keepCredentials: (server, user, given) => gateway.keepCredentials(server, user, given),

    async loginStart(server, redirectUrl, user) {
      const reply = await gateway.login(server, redirectUrl, user);
      if (!reply.ok) return reply;
      if (reply.value.done) return { ok: true, value: { done: true } };
      logins.set(`${server} ${user ?? ''}`, reply.value);
      return { ok: true, value: { done: false, authorizationUrl: reply.value.authorizationUrl } };
    },

    async loginFinish(server, callbackUrl, user) {
      const login = logins.get(`${server} ${user ?? ''}`);
      if (!login) return { ok: false, error: noLogin(server) };
      logins.delete(`${server} ${user ?? ''}`);
      return await login.finish(callbackUrl);
    },
  };
}

function noLogin(server: string): UpstreamFailure {
  return {
    code: 'not_found',
    errorType: 'NOT_FOUND',
    message: `No login to server "${server}" is under way`,
    hint: `Start one with "pml servers login ${server}".`,
  };
}
