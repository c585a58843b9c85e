import type { DriftMark } from '../../core/capabilities/quarantine.ts';
import type {
  ExecutionTrace,
  RunKind,
  RunOrigin,
  RunVerdict,
} from '../../core/vocabulary/execution-trace.ts';
import type { NodeId, ToolId } from '../../core/vocabulary/ids.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import type { KeyScope, Ownership, Visibility } from '../../core/vocabulary/principal.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { CallStore } from './calls.ts';
import type { GraphStore, RollupStore } from './graph-store.ts';
import type { SuggestionStore } from './learning.ts';
import type { AuditStore, KeyStore, OAuthStore, UsageStore } from './people-store.ts';
import type { UpstreamIdentity } from './upstream.ts';
/**
 * The memory. A method that resolved has committed: what it wrote survives `kill -9`.
 * Lists come in a stated order, so that two stores with the same history answer alike.
 */
export interface Store {
  readonly servers: ServerStore;
  readonly tools: ToolStore;
  readonly embeddings: EmbeddingStore;
  readonly graph: GraphStore;
  readonly capabilities: CapabilityStore;
  readonly traces: TraceStore;
  readonly calls: CallStore;
  readonly rollup: RollupStore;
  readonly episodes: EpisodicStore;
  readonly runs: WorkflowRunStore;
  readonly approvals: ApprovalStore;
  readonly rankerParams: RankerParamsStore;
  readonly suggestions: SuggestionStore;
  readonly keys: KeyStore;
  readonly audit: AuditStore;
  readonly usage: UsageStore;
  readonly oauth: OAuthStore;
  close(): Promise<void>;
}

/** What is known of an upstream server without starting it. */
export interface ServerRecord {
  readonly name: string;
  /** Of the settings it was started with; other settings may mean other tools. */
  readonly settingsHash: string;
  readonly identity: UpstreamIdentity;
  readonly refreshedAt: Date;
}

export interface ServerStore {
  /** Adds or replaces by name. */
  put(record: ServerRecord): Promise<void>;
  /** In order of name. */
  list(): Promise<ServerRecord[]>;
  remove(name: string): Promise<void>;
}

/**
 * Definitions as a person knows them: the first one seen is accepted, a later one that differs is
 * proposed and waits. A tool that its server no longer lists is retired, not forgotten, so that it
 * cannot come back as something else unnoticed.
 */
export interface ToolStore {
  /** Accepts: adds or replaces by id, all or none; what was proposed for them is settled. */
  put(definitions: readonly ToolDefinition[]): Promise<void>;
  /** Also a retired one. */
  get(id: ToolId): Promise<ToolDefinition | null>;
  /** Those not retired, in order of id. */
  list(server?: string): Promise<ToolDefinition[]>;
  retire(ids: readonly ToolId[]): Promise<void>;
  /** Keeps a differing definition of a known tool beside the accepted one. */
  propose(definitions: readonly ToolDefinition[]): Promise<void>;
  /** What was proposed and not accepted yet, in order of id. */
  proposed(): Promise<ToolDefinition[]>;
  /** Forgets them; takes their embeddings along. */
  remove(ids: readonly ToolId[]): Promise<void>;
  /** Keeps the JSON schema that fits what each of these tools has given so far; unknown tools are left out. */
  observeOutputs(schemas: ReadonlyMap<ToolId, unknown>): Promise<void>;
  /** Of tools not retired. */
  observedOutputs(): Promise<Map<ToolId, unknown>>;
}

export interface ToolEmbedding {
  readonly toolId: ToolId;
  readonly model: string;
  /** The definition this vector was made from; a changed definition has another hash. */
  readonly definitionHash: string;
  readonly vector: Float32Array;
}

export interface EmbeddingStore {
  /** Adds or replaces by (tool, model), all or none; the tools must be in the store. */
  put(embeddings: readonly ToolEmbedding[]): Promise<void>;
  /** In order of tool id. */
  list(model: string): Promise<ToolEmbedding[]>;
}

/** Kept as `core/capabilities` made it. */
export interface CapabilityTemplate {
  readonly source: string;
  readonly slots: readonly unknown[];
}

/** Why a capability is in the state it is in. */
export interface CapabilityEvidence {
  /** The latest outcomes, oldest first. */
  readonly recent: readonly boolean[];
  /** Independent runs that succeeded, as many as admission asks for. */
  readonly runIds: readonly string[];
  /** The definitions its tools had when it was learned, by tool id. */
  readonly definitionHashes: Readonly<Record<string, string>>;
  /** Intents it succeeded with, without repeats, a few of them. */
  readonly intents: readonly string[];
  /** Null unless quarantined. */
  readonly quarantinedBecause: string | null;
  /** Of a recurring part of jobs; absent where it was a whole job, or a program. */
  readonly part?: PartEvidence;
  /** Quarantined because a tool changed: it may be called again once that is undone. */
  readonly heals?: boolean;
  /** Changes in the answers of its tools; absent where there are none. */
  readonly drift?: readonly DriftMark[];
  /** What its recorded runs, and running them again, say to the changes of its tools, as a sentence. */
  readonly retested?: string;
  /** The changes that this was said of. */
  readonly retestedFor?: string;
  /** Absent: it was not tried on its own past yet. */
  readonly proof?: CapabilityProof;
}

/** What a capability was shown to do again, on recordings of its own runs. */
export interface CapabilityProof {
  /** Of the code that was run. */
  readonly codeHash: string;
  /** Those it reproduced; none where no run was recorded in full. */
  readonly cases: readonly { readonly hash: string; readonly traceIds: readonly string[] }[];
  readonly effects: CapabilityEffects;
  /** The first thing that was not the same, as a sentence; null: nothing. */
  readonly failure: string | null;
  /** As ISO 8601. */
  readonly provenAt: string;
}

/** In order of name. */
export interface CapabilityEffects {
  readonly tools: readonly string[];
  /** Those that are not marked as read-only. */
  readonly writes: readonly string[];
  /** Of servers that are reached over the network. */
  readonly hosts: readonly string[];
}

/** Why a part of jobs is worth a name. */
export interface PartEvidence {
  /** As the miner knows it. */
  readonly key: string;
  /** Its tools, in order, with repeats. */
  readonly tools: readonly string[];
  /** By step: where its arguments come from, by name. */
  readonly wiring: readonly Readonly<Record<string, string>>[];
  /** Jobs it was seen in that have no call in common. */
  readonly support: number;
  /** Bits that telling the jobs by it saves. */
  readonly gain: number;
}

/**
 * A reusable piece of code that earned its place; stored in `workflow_pattern`. A private one is its owner's alone.
 */
export interface Capability extends Ownership {
  readonly id: string;
  readonly slug: string;
  /** Former slugs that still call it. */
  readonly aliases: readonly string[];
  readonly description: string;
  /** Hash of the normalised syntax tree, and of the owner where it is private: the capability's identity. */
  readonly codeHash: string;
  readonly code: string;
  readonly parametersSchema: unknown;
  readonly outputSchema: unknown;
  readonly toolsUsed: readonly NodeId[];
  readonly toolInvocations: readonly unknown[];
  readonly staticStructure: unknown;
  /** The program it was learned from, with its literals: what the parameters are made of. */
  readonly template: CapabilityTemplate;
  readonly evidence: CapabilityEvidence;
  readonly intentText: string;
  readonly state: 'candidate' | 'active' | 'quarantined';
  readonly uses: number;
  readonly successes: number;
  /** Counts up with each write, from 1. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface CapabilityStore {
  /**
   * Adds, or replaces by id if the stored revision is `capability.revision - 1`. Else, and for a slug, alias or
   * code hash that another one has, it is a `store_conflict`.
   */
  put(capability: Capability): Promise<void>;
  get(id: string): Promise<Capability | null>;
  /** By slug, then by alias. */
  find(slug: string): Promise<Capability | null>;
  findByCodeHash(codeHash: string): Promise<Capability | null>;
  /** In order of slug. */
  list(): Promise<Capability[]>;
  remove(id: string): Promise<boolean>;
}

export interface TraceQuery {
  readonly limit: number;
  readonly sessionId?: string;
  readonly capabilityId?: string;
  /** A run that waited in between has several. */
  readonly runId?: string;
  readonly kind?: RunKind;
  readonly success?: boolean;
  /** Executed at or after it. */
  readonly since?: Date;
  /** Executed before it. */
  readonly until?: Date;
  /** The id of something it called. */
  readonly node?: string;
  /** Of a server it called. */
  readonly server?: string;
  /** Part of the intent, whether written large or small. */
  readonly text?: string;
  /** Only those that come after this one in the list; none if it is not there. */
  readonly before?: string;
  /** Those that ran last come first, whenever they were stored. */
  readonly byTime?: boolean;
  /** Only those that are shared, or this user's own. */
  readonly visibleTo?: string;
}

export interface RemovedTraces {
  readonly traces: number;
  /** Ids of the runs that were spared because they are not over, in order. */
  readonly unfinishedRuns: readonly string[];
}

/** What the ranker looks back on of a run. */
export interface RecalledRun
  extends Pick<
    ExecutionTrace,
    | 'capabilityId'
    | 'executedAt'
    | 'durationMs'
    | 'guest'
    | 'owner'
    | 'runId'
    | 'sessionId'
    | 'origin'
    | 'verdict'
  > {
  /** Of the trace; a run that waited in between has several. */
  readonly id: string;
  readonly intentText: string;
  readonly intent: Float32Array | null;
  readonly clauses: readonly Float32Array[] | null;
  readonly executedPath: readonly NodeId[];
  readonly toolInvocations: ExecutionTrace['toolInvocations'];
  readonly success: boolean;
  readonly visibility: Visibility;
}

/** Runs of one hour. */
export interface RunTally {
  /** When it began. */
  readonly hour: Date;
  readonly runs: number;
  readonly successes: number;
}

export interface TraceStore {
  /** A trace with this id already stored is a `store_conflict`. */
  append(trace: ExecutionTrace): Promise<void>;
  /** In this order, all or none. */
  appendAll(traces: readonly ExecutionTrace[]): Promise<void>;
  get(id: string): Promise<ExecutionTrace | null>;
  /** Newest first: those stored last, or by time those that ran last. */
  list(query: TraceQuery): Promise<ExecutionTrace[]>;
  /**
   * Oldest first, in the order they were stored, `limit` at a time: what rebuilding reads.
   * Starts at cursor 0; the answer's cursor asks for the next page, also when traces were forgotten between.
   * A reader that follows it while others write meets every trace once.
   */
  scan(cursor: number, limit: number): Promise<{ traces: ExecutionTrace[]; cursor: number }>;
  count(): Promise<number>;
  /** Runs per hour since then, oldest first; hours without any are left out. */
  tally(since: Date): Promise<RunTally[]>;
  /** What a person says of it from now on; null: nothing any more. False when the trace is unknown. */
  judge(id: string, verdict: RunVerdict | null): Promise<boolean>;
  setPriorities(priorities: ReadonlyMap<string, number>): Promise<void>;
  /** The vectors of the intent and of its clauses, made after the trace was stored; clauses to three digits. */
  setIntentEmbedding(
    id: string,
    model: string,
    vector: Float32Array,
    clauses?: readonly Float32Array[],
  ): Promise<void>;
  /** The newest traces with an intent, oldest first; vectors where this model made them. */
  recall(model: string, limit: number): Promise<RecalledRun[]>;
  /**
   * Of the runs that `recall` with this `beyond` leaves out, those whose intents are nearest to this one, `limit` at the
   * most, in any order. None where the store cannot search so many vectors, or not yet.
   */
  near(model: string, intent: Float32Array, limit: number, beyond: number): Promise<RecalledRun[]>;
  /**
   * Forgets them with all else that is kept of their runs: the runs themselves, episodes, approvals.
   * A run that is not over, or waits for a person, keeps all of it unless `unfinishedRuns` go as well.
   */
  remove(ids: readonly string[], also?: { readonly unfinishedRuns: boolean }): Promise<RemovedTraces>;
}

export interface EpisodicEvent {
  readonly id: string;
  readonly workflowId: string;
  /** `speculation_start`, `task_complete`, `ail_decision`, `hil_decision`, and more as flows need them. */
  readonly eventType: string;
  readonly taskId: string | null;
  readonly timestamp: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EpisodicStore {
  append(events: readonly EpisodicEvent[]): Promise<void>;
  /** In the order they were stored. */
  list(workflowId: string): Promise<EpisodicEvent[]>;
}

export interface WorkflowRun extends Ownership {
  /** The key it was begun with, and the scope that the key had then; absent: by the owner, or by PML itself. */
  readonly begunWith?: { readonly keyId: string | null; readonly scope?: KeyScope };
  readonly id: string;
  /** `call`: a tool call, a program or a capability, which is written down when it has to wait for a person. */
  readonly kind: 'call' | 'workflow';
  readonly sessionId: string | null;
  readonly origin: RunOrigin;
  readonly intentText: string | null;
  readonly plan: Plan | null;
  readonly status: 'running' | 'paused' | 'success' | 'error' | 'aborted';
  /** State of each task and what it gave, by task id. */
  readonly tasks: Readonly<Record<string, unknown>>;
  /** Counts up with each write of the run itself; a write based on an older version is a `store_conflict`. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Who drives a run, and how long without a sign of life. */
export interface RunLease {
  readonly owner: string;
  readonly ttlMs: number;
}

/**
 * The holder of its lease drives a run; time is the store's own, the same for all who share it.
 * Writes of a driver that lost its lease are refused, so that no two can take the same step.
 */
export interface WorkflowRunStore {
  create(run: WorkflowRun, lease?: RunLease): Promise<void>;
  /**
   * Writes `run` if the stored version is `run.version - 1`, else `store_conflict`. Tasks replace those of
   * the same id, others stay. The process that drove it stops.
   */
  update(run: WorkflowRun): Promise<void>;
  get(id: string): Promise<WorkflowRun | null>;
  /** Newest first; only those that are shared or this user's own, if one is named. */
  list(limit: number, visibleTo?: string): Promise<WorkflowRun[]>;
  /** Drives a run that is running or paused from now on; null when it is over, not there, or another's. */
  claim(id: string, lease: RunLease): Promise<WorkflowRun | null>;
  /** False when the lease was lost. */
  renew(id: string, lease: RunLease): Promise<boolean>;
  /** Adds or replaces tasks, all or none; a `store_conflict` when the run is not (any more) driven by `owner`. */
  saveTasks(id: string, owner: string, tasks: Readonly<Record<string, unknown>>): Promise<void>;
  /** Lets it go with this status and these tasks, all or none; false when the lease was lost. */
  release(
    id: string,
    owner: string,
    status: WorkflowRun['status'],
    tasks?: Readonly<Record<string, unknown>>,
  ): Promise<boolean>;
  /** Ids of runs under way that nobody drives, oldest first. */
  abandoned(): Promise<string[]>;
}

export interface Approval {
  readonly id: string;
  readonly runId: string;
  readonly node: NodeId;
  /** Hash of the exact arguments: an approval is for this call and no other. */
  readonly argumentsHash: string;
  /** As shown to the person who decides. */
  readonly arguments: unknown;
  /** Why it is asked. */
  readonly reason: string;
  /** `used`: the call it was given for has been made; it cannot be used for another. */
  readonly state: 'pending' | 'approved' | 'rejected' | 'used';
  readonly requestedAt: Date;
  readonly settledAt: Date | null;
  readonly settledBy: string | null;
}

/** An approval has to match every field that is given. */
export type ApprovalFilter = Partial<Pick<Approval, 'state' | 'runId' | 'node' | 'argumentsHash'>>;

export interface ApprovalStore {
  request(approval: Approval): Promise<void>;
  /** False when it is not pending (any more): the first decision stands. It is in the audit log as of the same commit. */
  settle(id: string, state: 'approved' | 'rejected', by: string, at: Date): Promise<boolean>;
  /** Turns `approved` into `used`; false when it is not approved, or used already. */
  use(id: string): Promise<boolean>;
  get(id: string): Promise<Approval | null>;
  /** Oldest first. */
  list(filter: ApprovalFilter): Promise<Approval[]>;
}

export interface RankerParams {
  readonly id: string;
  /** The embedding model they were trained on; for parameters other than the ranker's, also what they belong to. */
  readonly model: string;
  readonly bytes: Uint8Array;
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export interface RankerParamsStore {
  save(params: RankerParams): Promise<void>;
  /** Newest first. */
  list(model: string, limit: number): Promise<RankerParams[]>;
  remove(id: string): Promise<boolean>;
}
