import type { CallableNames } from '../core/capabilities/guest-types.ts';
import type { RankingReasons } from '../core/learning/ranker/ranker.ts';
import type { DefinitionChange } from '../core/policy/call-hash.ts';
import type { Plan } from '../core/vocabulary/plan.ts';
import type { ErrorShape, RunStatus } from '../core/vocabulary/pml-error.ts';
import type { ToolDefinition } from '../core/vocabulary/tool-definition.ts';
import type { Caller } from './caller.ts';
import type { GraphService } from './graph/graph-service.ts';
import type { LearningService } from './learning/learning-service.ts';
import type { PeopleService } from './people/people-service.ts';
import type { LoopFigures } from './ports/process.ts';
import type {
  Approval,
  Capability,
  CodeError,
  ConsoleLine,
  JsonObject,
  Settings,
  Store,
  ToolResult,
  UpstreamChanges,
  UpstreamEvent,
  UpstreamIdentity,
  UpstreamLogin,
  UpstreamReply,
  UpstreamServer,
  UpstreamTool,
  UserCredentials,
  WorkflowRun,
} from './ports.ts';
import type { PendingRun } from './runs/pending-runs.ts';
import type { EventLog } from './traces/event-log.ts';
import type { SpeculationFigures } from './workflow/active-runs.ts';

export type { Caller } from './caller.ts';

export interface SearchQuery {
  readonly query: string;
  readonly limit?: number;
  /** Only tools of this server. */
  readonly server?: string;
  readonly includeRelated?: boolean;
  readonly contextTools?: readonly string[];
  /** Also TypeScript signatures, for code. */
  readonly signatures?: boolean;
  /** Also why each stands where it does, where the learned ranker decides. */
  readonly explain?: boolean;
}

export interface SearchHit {
  readonly tool: ToolDefinition;
  /** When asked for. */
  readonly signature?: string;
  /** What the tool's text says: the parts fused. */
  readonly semanticScore: number;
  /** What was used lately says: relatedness to the context. */
  readonly graphScore: number;
  /** alpha x semantic + (1 - alpha) x graph */
  readonly finalScore: number;
  readonly parts: SearchParts;
  /** When asked for. */
  readonly reasons?: RankingReasons;
  readonly related: readonly {
    readonly toolId: string;
    readonly relation: 'often_before' | 'often_after' | 'used_together';
    readonly score: number;
  }[];
}

/** What a score is made of. */
export interface SearchParts {
  /** Cosine of the whole query. */
  readonly whole: number;
  /** Cosine of the query's best clause, less what that clause has in common with all tools. */
  readonly clause: number;
  /** BM25, squashed into [0, 1). */
  readonly lexical: number;
  /** 1 when the query calls the tool by its name, less with a slip in it, else 0. */
  readonly name: number;
  /** The share of the text in the final score; 1 without context. */
  readonly alpha: number;
  /** What was learned says, on the scale of the text's score, in whose place it stands; absent while it does not serve. */
  readonly learned?: number;
  /** How much of what was learned applies to the query, in [0, 1]; at 0 the text ranks. Absent while it does not serve. */
  readonly learnedShare?: number;
}

export interface CapabilityHit {
  readonly slug: string;
  readonly description: string;
  readonly parameters: unknown;
  readonly score: number;
  readonly successRate: number;
  readonly uses: number;
  readonly toolsUsed: readonly string[];
  readonly toolsSequence: readonly string[];
}

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
  /** Why tasks wait for others, by their ids. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
  /** By task: other tools that would do. */
  readonly alternatives: Readonly<Record<string, readonly string[]>>;
  readonly suggestedCapabilities: readonly CapabilityHit[];
}

export interface NextStep {
  readonly node: string;
  readonly score: number;
  readonly reason: string;
}

export interface ToolCall {
  /** In any spelling `parseToolId` takes. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
  /** More fields of the request, passed upstream untouched (the transparent endpoint's). */
  readonly meta?: JsonObject;
  readonly extraParams?: JsonObject;
  readonly passInputRequired?: boolean;
  /** Calls a tool that its server does not list, too: refusing it is the server's business. */
  readonly evenIfUnlisted?: boolean;
}

/** What a run gave. `result` is the upstream's own, untouched; `error` says why there is none. */
export interface ToolRun {
  readonly status: RunStatus;
  readonly runId: string;
  readonly traceId: string | null;
  readonly result?: ToolResult;
  readonly error?: ErrorShape & { readonly rpc?: { code: number; message: string; data?: unknown } };
  /** With `approval_required`: what a person has to decide. */
  readonly approval?: Approval;
}

export interface CodeCall {
  readonly code: string;
  /** What the code sees as `args`. */
  readonly arguments?: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
}

export interface CapabilityCall {
  /** Slug or alias. */
  readonly capability: string;
  readonly arguments: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
}

/** What a run of code gave; failure of the code is data. */
export interface CodeRun {
  readonly status: RunStatus;
  readonly runId: string;
  readonly traceId: string | null;
  readonly result?: unknown;
  readonly error?: CodeError;
  /** With `approval_required`: what a person has to decide. */
  readonly approval?: Approval;
  readonly console: readonly ConsoleLine[];
  /** Without repeats, in order of first use. */
  readonly toolsUsed: readonly string[];
}

export interface WorkflowResult {
  /** `decision_required`: a layer is done, and the agent says whether the run continues. */
  readonly status: 'success' | 'error' | 'approval_required' | 'decision_required' | 'running' | 'aborted';
  readonly runId: string;
  /** By task: what became of it and what it gave, or why not. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly layers: readonly (readonly string[])[];
  readonly approvals: readonly Approval[];
  readonly error?: ErrorShape;
  /** With `decision_required`: the tasks that would run next. */
  readonly next?: readonly string[];
  /** After `replan`: what is done, as tools and other nodes in the order they ended. */
  readonly executed?: readonly string[];
}

/** A program as a plan. */
export interface PlannedCode {
  readonly plan: Plan;
  /** What the program returns, with references to the tasks' results; absent where it returns nothing. */
  readonly result?: unknown;
}

/** A program that was run as a plan; `result` is what it returned. */
export interface PlannedRun extends WorkflowResult {
  readonly result?: unknown;
}

export interface IntentCall {
  readonly intent: string;
  /** Values of the inputs that the plan will have. */
  readonly arguments?: JsonObject;
}

/** What an intent alone led to: a run of what was suggested, or the suggestion and why it was not run. */
export interface IntentRun {
  readonly suggestion: Suggestion;
  readonly why: readonly string[];
  readonly run?: WorkflowResult;
}

export type WorkflowAction = 'status' | 'continue' | 'replan' | 'resume' | 'abort';

export interface CallEdit {
  /** Absent: the only one that waits. */
  readonly task?: string;
  readonly arguments: JsonObject;
  readonly by: string;
}

export interface ServerReport extends UpstreamServer {
  /** Tools in the catalogue, also of servers that do not run now. */
  readonly tools: number;
  /** Tools whose definition changed and waits for a person. */
  readonly changedTools: readonly string[];
  readonly schemaTokens: number;
}

export interface GatewayStats {
  readonly servers: number;
  readonly tools: number;
  readonly capabilities: number;
  readonly traces: number;
  /** About how many tokens the schemas of all tools are, and how many the client sees instead. */
  readonly schemaTokens: number;
  readonly exposedTokens: number;
  readonly sparedTokens: number;
  readonly pendingApprovals: number;
  /** Calls of workflows that ran ahead, and those whose result was used, since the gateway began. */
  readonly speculation: SpeculationFigures;
  /** How often and how long the process stood still. */
  readonly loop: LoopFigures;
}

/** What a server says of itself and its tools that nobody has accepted yet. */
export interface ServerChanges {
  /** Of the server's own words: `instructions` and fields of its name. */
  readonly words: readonly DefinitionChange[];
  readonly tools: readonly { readonly tool: string; readonly changes: readonly DefinitionChange[] }[];
  /** Names exactly these changes. */
  readonly hash: string;
}

/** What people and programs do with capabilities besides running them. */
export interface CapabilityService {
  /** In order of slug; those that this caller may see. */
  list(caller?: Pick<Caller, 'who'>): Promise<readonly Capability[]>;
  /** By slug or alias; an unknown one is an error that names the nearest. */
  show(slug: string, caller?: Pick<Caller, 'who'>): Promise<Capability>;
  /** What was one user's is everybody's. */
  share(slug: string, caller?: Pick<Caller, 'who'>): Promise<Capability>;
  /** What was everybody's is one user's: this one's, or the user's whose run it was first learned from. */
  keepPrivate(slug: string, user?: string, caller?: Pick<Caller, 'who'>): Promise<Capability>;
  /** The old name still calls it. */
  rename(slug: string, to: string): Promise<Capability>;
  /** By a person: it can no longer be called, or, with null, it can again. */
  quarantine(slug: string, reason: string | null): Promise<Capability>;
  forget(slug: string): Promise<boolean>;
  /** The files of an Agent Skill, by name. */
  export(slug: string, caller?: Pick<Caller, 'who'>): Promise<Readonly<Record<string, string>>>;
  import(files: Readonly<Record<string, string>>): Promise<Capability>;
}

/** The composed engine: everything a surface may ask of it. */
export interface Gateway {
  readonly store: Store;
  readonly events: EventLog;
  settings(): Settings;
  servers(): Promise<ServerReport[]>;
  stats(): Promise<GatewayStats>;
  /** One line for tool descriptions: which servers and how many tools there are. Stable between changes. */
  inventory(): string;

  /** All that a program of this caller can call, in order of id and slug. */
  callableNames(caller?: Pick<Caller, 'who'>): Promise<CallableNames>;
  searchTools(query: SearchQuery): Promise<SearchHit[]>;
  /** Of those that this caller may see. */
  searchCapabilities(query: string, limit: number, caller?: Pick<Caller, 'who'>): Promise<CapabilityHit[]>;
  suggest(intent: string, caller?: Caller): Promise<Suggestion>;
  /** False when it is settled already. */
  rejectSuggestion(id: string): Promise<boolean>;
  predictNext(intent: string, executed: readonly string[]): Promise<NextStep[]>;

  /** One call through policy, upstream and trace. */
  executeTool(call: ToolCall, caller: Caller): Promise<ToolRun>;
  /** Structure, policy preview, sandbox, trace. */
  executeCode(call: CodeCall, caller: Caller): Promise<CodeRun>;
  executeCapability(call: CapabilityCall, caller: Caller): Promise<CodeRun>;
  readonly capabilities: CapabilityService;
  readonly graph: GraphService;
  readonly learning: LearningService;
  readonly people: PeopleService;
  /** With a run id that is there already, that run is gone on with instead. */
  executeWorkflow(
    plan: Plan,
    intent: string | null,
    caller: Caller,
    runId?: string,
    /** The suggestion that the plan comes from, changed or not. */
    suggestionId?: string,
  ): Promise<WorkflowResult>;
  /** Runs what was suggested as it was, with these values of its inputs. */
  executeSuggestion(
    suggestionId: string,
    args: JsonObject,
    caller: Caller,
    runId?: string,
  ): Promise<WorkflowResult>;
  /** Code whose calls do not depend on how the run goes, as a plan; else an error with all that stands against it. */
  planFromCode(code: string, args?: JsonObject): Promise<PlannedCode>;
  /** Runs code as a plan: what only reads runs side by side, and the run can be interrupted. */
  executeAsPlan(call: CodeCall, caller: Caller, runId?: string): Promise<PlannedRun>;
  /** Suggests, and runs that where it may run by itself. */
  executeIntent(call: IntentCall, caller: Caller, runId?: string): Promise<IntentRun>;
  continueRun(runId: string, action: WorkflowAction, caller: Caller): Promise<WorkflowResult>;

  /** Runs that wait for a person, with their approvals. */
  runs(limit: number): Promise<{ run: WorkflowRun; approvals: Approval[] }[]>;
  /** By a person; false when there is nothing to decide any more. */
  settleApproval(
    runId: string,
    decision: 'approved' | 'rejected',
    by: string,
    /** Those the person was shown; absent: all that wait. */
    approvalIds?: readonly string[],
    /** Changed definitions of these tools are accepted for good, not for these calls alone. */
    acceptDefinition?: boolean,
  ): Promise<boolean>;
  /** Runs with the exact calls that wait in them, for a person who may decide about them. */
  showExact(runs: readonly PendingRun[]): Promise<PendingRun[]>;

  /** By a person: other arguments for a call that waits. It needs a new approval, since it is another call. */
  editCall(runId: string, edit: CallEdit): Promise<Approval>;

  /** Pass-through of everything that is not a tool call. */
  request(
    server: string,
    method: string,
    params: JsonObject,
    caller: Caller,
    meta?: JsonObject,
    /** Hands an `input_required` result back as it is, instead of asking the caller's client. */
    passInputRequired?: boolean,
  ): Promise<UpstreamReply<JsonObject>>;
  /** One-way, from a client of this user. */
  notify(server: string, method: string, params: JsonObject, user: string): Promise<boolean>;
  identity(server: string, caller: Caller): Promise<UpstreamReply<UpstreamIdentity>>;
  /** The server's own tool list, for its transparent endpoint: include/exclude applied, fields untouched. */
  rawTools(server: string, caller: Caller): Promise<UpstreamReply<readonly UpstreamTool[]>>;
  onUpstream(listener: (event: UpstreamEvent) => void): () => void;
  forgetClient(clientId: string): Promise<void>;

  /** What a server says of itself and its tools that nobody has accepted yet. */
  changesOfServer(server: string): Promise<ServerChanges>;
  /** By a person who was shown the changes of this hash. */
  acceptServer(server: string, by: string, hash: string): Promise<ServerChanges>;
  restart(server: string): Promise<UpstreamReply<UpstreamIdentity>>;
  logs(server: string): readonly string[];
  login(server: string, redirectUrl: string, user?: string): Promise<UpstreamReply<UpstreamLogin>>;
  /** What one user reaches a server with; null: forgotten. */
  keepCredentials(
    server: string,
    user: string,
    credentials: UserCredentials | null,
  ): Promise<UpstreamReply<null>>;
  reload(settings: Settings): Promise<UpstreamChanges>;
  /** Resolves when everything under way (traces, catalogue, embeddings) has been stored. */
  settled(): Promise<void>;
  close(): Promise<void>;
}
