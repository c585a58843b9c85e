import type { findPath } from '../../../operations/find-path.ts';
import type { getActivity } from '../../../operations/get-activity.ts';
import type { getCapability } from '../../../operations/get-capability.ts';
import type { getGraph } from '../../../operations/get-graph.ts';
import type { getLearning } from '../../../operations/get-learning.ts';
import type { getMe } from '../../../operations/get-me.ts';
import type { getNode } from '../../../operations/get-node.ts';
import type { getStats } from '../../../operations/get-stats.ts';
import type { getTrace } from '../../../operations/get-trace.ts';
import type { listCapabilities } from '../../../operations/list-capabilities.ts';
import type { listRuns } from '../../../operations/list-runs.ts';
import type { listServers } from '../../../operations/list-servers.ts';
import type { listTraces } from '../../../operations/list-traces.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import type { runCapability } from '../../../operations/run-capability.ts';
import type { searchTools } from '../../../operations/search-tools.ts';

/** The JSON of `/api`, as the operations declare it: types alone, nothing of them runs in a browser. */

export type Me = OutputOf<typeof getMe>;
export type Right = Me['rights'][number];

export type Stats = OutputOf<typeof getStats>;
/** A snapshot that says where to follow the events from. */
export type Snapshot = Pick<Stats, 'last_event_id'>;

export type Servers = OutputOf<typeof listServers>;
export type Server = Servers['servers'][number];
export type ServerState = Server['state'];

export type Activity = OutputOf<typeof getActivity>;

export type SearchHit = OutputOf<typeof searchTools>['tools'][number];

export type Graph = OutputOf<typeof getGraph>;
export type GraphNode = Graph['nodes'][number];
export type GraphEdge = Graph['edges'][number];
export type GraphNodeDetails = OutputOf<typeof getNode>;
export type GraphPath = OutputOf<typeof findPath>;

export type Traces = OutputOf<typeof listTraces>;
export type TraceSummary = Traces['traces'][number];
export type Trace = OutputOf<typeof getTrace>;

export type Runs = OutputOf<typeof listRuns>;
/** A workflow, or a call that waits for a person. */
export type Run = Runs['runs'][number];
export type Approval = Run['approvals'][number];

/** What running a tool, code or a capability answers. */
export type Execution = OutputOf<typeof runCapability>;

export type Capabilities = OutputOf<typeof listCapabilities>;
export type CapabilitySummary = Capabilities['capabilities'][number];
export type Capability = OutputOf<typeof getCapability>;

export type Learning = OutputOf<typeof getLearning>;
export type Gate = Learning['gate'];
