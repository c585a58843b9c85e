// Generated from the files of this folder by "npm run build:operations"; check, tests and build run it too.
import { abortRun } from './abort-run.ts';
import { acceptServerChanges } from './accept-server-changes.ts';
import { approveRun } from './approve-run.ts';
import { backUpStore } from './back-up-store.ts';
import { countCalls } from './count-calls.ts';
import { createKey } from './create-key.ts';
import { createLoginLink } from './create-login-link.ts';
import { editRun } from './edit-run.ts';
import { execute } from './execute.ts';
import { executeWorkflow } from './execute-workflow.ts';
import { exportCapability } from './export-capability.ts';
import { exportTraces } from './export-traces.ts';
import { findGoodRun } from './find-good-run.ts';
import { findPath } from './find-path.ts';
import { findTraces } from './find-traces.ts';
import { finishServerLogin } from './finish-server-login.ts';
import { forgetCapability } from './forget-capability.ts';
import { forgetTraces } from './forget-traces.ts';
import { forkRun } from './fork-run.ts';
import { getActivity } from './get-activity.ts';
import { getCapability } from './get-capability.ts';
import { getGraph } from './get-graph.ts';
import { getGraphReport } from './get-graph-report.ts';
import { getLearning } from './get-learning.ts';
import { getLearningInsight } from './get-learning-insight.ts';
import { getMe } from './get-me.ts';
import { getNode } from './get-node.ts';
import { getProgress } from './get-progress.ts';
import { getRun } from './get-run.ts';
import { getServerChanges } from './get-server-changes.ts';
import { getServerLogs } from './get-server-logs.ts';
import { getStats } from './get-stats.ts';
import { getStructure } from './get-structure.ts';
import { getTrace } from './get-trace.ts';
import { getTypes } from './get-types.ts';
import { handOver } from './hand-over.ts';
import { importCapability } from './import-capability.ts';
import { importTraces } from './import-traces.ts';
import { keepCapabilityPrivate } from './keep-capability-private.ts';
import { listAlerts } from './list-alerts.ts';
import { listAuditEntries } from './list-audit-entries.ts';
import { listCalls } from './list-calls.ts';
import { listCapabilities } from './list-capabilities.ts';
import { listCapabilityRuns } from './list-capability-runs.ts';
import { listConnections } from './list-connections.ts';
import { listDrift } from './list-drift.ts';
import { listHiddenTools } from './list-hidden-tools.ts';
import { listKeys } from './list-keys.ts';
import { listLiveRuns } from './list-live-runs.ts';
import { listLogins } from './list-logins.ts';
import { listRuns } from './list-runs.ts';
import { listServers } from './list-servers.ts';
import { listStandingApprovals } from './list-standing-approvals.ts';
import { listTraces } from './list-traces.ts';
import { logOut } from './log-out.ts';
import { planFromCode } from './plan-from-code.ts';
import { predictNext } from './predict-next.ts';
import { quarantineCapability } from './quarantine-capability.ts';
import { rateRun } from './rate-run.ts';
import { rebuildGraph } from './rebuild-graph.ts';
import { rejectRun } from './reject-run.ts';
import { rejectSuggestion } from './reject-suggestion.ts';
import { renameCapability } from './rename-capability.ts';
import { replayTrace } from './replay-trace.ts';
import { restartServer } from './restart-server.ts';
import { resumeRun } from './resume-run.ts';
import { revokeConnection } from './revoke-connection.ts';
import { revokeKey } from './revoke-key.ts';
import { revokeLogin } from './revoke-login.ts';
import { revokeStandingApproval } from './revoke-standing-approval.ts';
import { rollBackRanker } from './roll-back-ranker.ts';
import { runCapability } from './run-capability.ts';
import { searchCapabilities } from './search-capabilities.ts';
import { searchTools } from './search-tools.ts';
import { setKeyScope } from './set-key-scope.ts';
import { setServerCredentials } from './set-server-credentials.ts';
import { shareCapability } from './share-capability.ts';
import { startServerLogin } from './start-server-login.ts';
import { stopTraining } from './stop-training.ts';
import { suggest } from './suggest.ts';
import { testCapabilities } from './test-capabilities.ts';
import { trainRanker } from './train-ranker.ts';

/** All operations of PML. */
export const OPERATIONS = [
  abortRun,
  acceptServerChanges,
  approveRun,
  backUpStore,
  countCalls,
  createKey,
  createLoginLink,
  editRun,
  execute,
  executeWorkflow,
  exportCapability,
  exportTraces,
  findGoodRun,
  findPath,
  findTraces,
  finishServerLogin,
  forgetCapability,
  forgetTraces,
  forkRun,
  getActivity,
  getCapability,
  getGraph,
  getGraphReport,
  getLearning,
  getLearningInsight,
  getMe,
  getNode,
  getProgress,
  getRun,
  getServerChanges,
  getServerLogs,
  getStats,
  getStructure,
  getTrace,
  getTypes,
  handOver,
  importCapability,
  importTraces,
  keepCapabilityPrivate,
  listAlerts,
  listAuditEntries,
  listCalls,
  listCapabilities,
  listCapabilityRuns,
  listConnections,
  listDrift,
  listHiddenTools,
  listKeys,
  listLiveRuns,
  listLogins,
  listRuns,
  listServers,
  listStandingApprovals,
  listTraces,
  logOut,
  planFromCode,
  predictNext,
  quarantineCapability,
  rateRun,
  rebuildGraph,
  rejectRun,
  rejectSuggestion,
  renameCapability,
  replayTrace,
  restartServer,
  resumeRun,
  revokeConnection,
  revokeKey,
  revokeLogin,
  revokeStandingApproval,
  rollBackRanker,
  runCapability,
  searchCapabilities,
  searchTools,
  setKeyScope,
  setServerCredentials,
  shareCapability,
  startServerLogin,
  stopTraining,
  suggest,
  testCapabilities,
  trainRanker,
] as const;

export type OperationTable = typeof OPERATIONS;
