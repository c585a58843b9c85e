/** Every interface the flows need, in one place; adapters implement them, `memory/` holds their twins. */
export { approvalSettled, keyCreated, keyRevoked } from './ports/audit-entries.ts';
export type { Bridge, RemoteProcedures } from './ports/bridge.ts';
export type { Change, ChangeFeed, ChangeListener, ChangeTopic } from './ports/change-feed.ts';
export type { Clock } from './ports/clock.ts';
export type { Crypto } from './ports/crypto.ts';
export type { Embedder } from './ports/embedder.ts';
export type { EventSink, GatewayEvent } from './ports/event-sink.ts';
export type { EdgeKey, GraphPosition, GraphStep, GraphStore, StoredGraph } from './ports/graph-store.ts';
export type { Logger, LogLevel } from './ports/logger.ts';
export type * from './ports/loop-watch.ts';
export {
  type ApiKey,
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditQuery,
  type AuditStore,
  type KeyStore,
} from './ports/people-store.ts';
export type { Rollup, RollupStep, RollupStore } from './ports/rollup-store.ts';
export type {
  CodeError,
  ConsoleLine,
  GuestCallError,
  GuestEnd,
  GuestEntry,
  GuestFailure,
  GuestHost,
  GuestLimit,
  GuestMark,
  GuestOutcome,
  GuestProgram,
  GuestReply,
  GuestSite,
  GuestToolCall,
  Sandbox,
  SandboxOptions,
  WallHold,
} from './ports/sandbox.ts';
export type {
  EmbeddingSettings,
  LearningSettings,
  PermissionSettings,
  RecordRule,
  RetentionSettings,
  SandboxSettings,
  ServerAuth,
  ServerSettings,
  Settings,
  SharingSettings,
  StoreSettings,
} from './ports/settings.ts';
export type {
  Approval,
  ApprovalStore,
  Capability,
  CapabilityEvidence,
  CapabilityStore,
  CapabilityTemplate,
  EmbeddingStore,
  EpisodicEvent,
  EpisodicStore,
  RankerParams,
  RankerParamsStore,
  RecalledRun,
  RemovedTraces,
  RunLease,
  ServerRecord,
  ServerStore,
  Store,
  ToolEmbedding,
  ToolStore,
  TraceQuery,
  TraceStore,
  WorkflowRun,
  WorkflowRunStore,
} from './ports/store.ts';
export { STORE_METHODS, type StoreRooms } from './ports/store-methods.ts';
export type {
  StoredSuggestion,
  SuggestionCounts,
  SuggestionOutcome,
  SuggestionStore,
} from './ports/suggestion-store.ts';
export type { ServedRequest, TraceExporter } from './ports/trace-exporter.ts';
export type { TraceJournal } from './ports/trace-journal.ts';
export type { Trainer, TrainerOptions } from './ports/trainer.ts';
export type { TrainerLock } from './ports/trainer-lock.ts';
export type {
  Audience,
  JsonObject,
  TokenStore,
  ToolResult,
  Upstream,
  UpstreamChanges,
  UpstreamClient,
  UpstreamEvent,
  UpstreamFailure,
  UpstreamIdentity,
  UpstreamLogin,
  UpstreamOptions,
  UpstreamProgress,
  UpstreamReply,
  UpstreamServer,
  UpstreamState,
  UpstreamTool,
  UserCredentials,
} from './ports/upstream.ts';
export type { Neighbour, StoredVectorIndex, VectorIndex } from './ports/vector-index.ts';
