import { abortRun } from './abort-run.ts';
import { approveRun } from './approve-run.ts';
import { editRun } from './edit-run.ts';
import { execute } from './execute.ts';
import { executeWorkflow } from './execute-workflow.ts';
import { exportCapability } from './export-capability.ts';
import { findPath } from './find-path.ts';
import { forgetCapability } from './forget-capability.ts';
import { getActivity } from './get-activity.ts';
import { getCapability } from './get-capability.ts';
import { getGraph } from './get-graph.ts';
import { getLearning } from './get-learning.ts';
import { getLearningInsight } from './get-learning-insight.ts';
import { getMe } from './get-me.ts';
import { getNode } from './get-node.ts';
import { getRun } from './get-run.ts';
import { getStats } from './get-stats.ts';
import { getStructure } from './get-structure.ts';
import { getTrace } from './get-trace.ts';
import { getTypes } from './get-types.ts';
import { keepCapabilityPrivate } from './keep-capability-private.ts';
import { listAuditEntries } from './list-audit-entries.ts';
import { listCapabilities } from './list-capabilities.ts';
import { listCapabilityRuns } from './list-capability-runs.ts';
import { listLiveRuns } from './list-live-runs.ts';
import { listLogins } from './list-logins.ts';
import { listRuns } from './list-runs.ts';
import { listServers } from './list-servers.ts';
import { listTraces } from './list-traces.ts';
import { logOut } from './log-out.ts';
import { quarantineCapability } from './quarantine-capability.ts';
import { rejectRun } from './reject-run.ts';
import { rejectSuggestion } from './reject-suggestion.ts';
import { renameCapability } from './rename-capability.ts';
import { resumeRun } from './resume-run.ts';
import { revokeLogin } from './revoke-login.ts';
import { rollBackRanker } from './roll-back-ranker.ts';
import { runCapability } from './run-capability.ts';
import { searchCapabilities } from './search-capabilities.ts';
import { searchTools } from './search-tools.ts';
import { shareCapability } from './share-capability.ts';
import { suggest } from './suggest.ts';
import { trainRanker } from './train-ranker.ts';

/** Everything PML can be asked. MCP clients see the tools among them in this order. */
export const OPERATIONS = [
  searchTools,
  searchCapabilities,
  suggest,
  execute,
  executeWorkflow,
  getMe,
  getStats,
  listServers,
  getTypes,
  getActivity,
  getGraph,
  getNode,
  findPath,
  getStructure,
  listLiveRuns,
  listTraces,
  getTrace,
  listRuns,
  getRun,
  approveRun,
  rejectRun,
  editRun,
  resumeRun,
  abortRun,
  rejectSuggestion,
  listCapabilities,
  getCapability,
  listCapabilityRuns,
  exportCapability,
  runCapability,
  shareCapability,
  keepCapabilityPrivate,
  renameCapability,
  quarantineCapability,
  forgetCapability,
  getLearning,
  getLearningInsight,
  trainRanker,
  rollBackRanker,
  listAuditEntries,
  listLogins,
  revokeLogin,
  logOut,
] as const;

export type OperationTable = typeof OPERATIONS;
