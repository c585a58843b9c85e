import type { Kysely } from 'kysely';
import type { Store } from '../../engine/ports.ts';
import type { Database } from './database.ts';
import { sqlApprovals } from './sql/approvals.ts';
import { sqlCalls } from './sql/calls.ts';
import { sqlCapabilities } from './sql/capabilities.ts';
import { sqlGraph } from './sql/graph.ts';
import { sqlAudit, sqlKeys, sqlOAuth, sqlUsage } from './sql/people.ts';
import { sqlRollup } from './sql/rollup.ts';
import { sqlRuns } from './sql/runs.ts';
import { sqlEpisodes, sqlRankerParams, sqlSuggestions } from './sql/suggestions.ts';
import { sqlEmbeddings, sqlServers, sqlTools } from './sql/tools.ts';
import { sqlTraces } from './sql/traces.ts';

/** A store and its database, for operations on all tables. */
export interface SqlStore extends Store {
  readonly db: Kysely<Database>;
}

export function createSqlStore(db: Kysely<Database>): SqlStore {
  return {
    db,
    servers: sqlServers(db),
    tools: sqlTools(db),
    embeddings: sqlEmbeddings(db),
    graph: sqlGraph(db),
    capabilities: sqlCapabilities(db),
    traces: sqlTraces(db),
    calls: sqlCalls(db),
    rollup: sqlRollup(db),
    episodes: sqlEpisodes(db),
    runs: sqlRuns(db),
    approvals: sqlApprovals(db),
    rankerParams: sqlRankerParams(db),
    suggestions: sqlSuggestions(db),
    keys: sqlKeys(db),
    audit: sqlAudit(db),
    usage: sqlUsage(db),
    oauth: sqlOAuth(db),
    close: () => db.destroy(),
  };
}
