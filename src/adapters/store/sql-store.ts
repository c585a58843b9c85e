import type { Kysely } from 'kysely';
import type { Store } from '../../engine/ports.ts';
import type { Database } from './database.ts';
import { sqlApprovals } from './sql/approvals.ts';
import { sqlAudit } from './sql/audit.ts';
import { sqlCapabilities } from './sql/capabilities.ts';
import { sqlEmbeddings } from './sql/embeddings.ts';
import { sqlEpisodes } from './sql/episodes.ts';
import { sqlGraph } from './sql/graph.ts';
import { sqlKeys } from './sql/keys.ts';
import { sqlRankerParams } from './sql/ranker-params.ts';
import { sqlRuns } from './sql/runs.ts';
import { sqlServers } from './sql/servers.ts';
import { sqlTools } from './sql/tools.ts';
import { sqlTraces } from './sql/traces.ts';

/** The same SQL on PGlite and on PostgreSQL. */
export function createSqlStore(db: Kysely<Database>): Store {
  return {
    servers: sqlServers(db),
    tools: sqlTools(db),
    embeddings: sqlEmbeddings(db),
    graph: sqlGraph(db),
    capabilities: sqlCapabilities(db),
    traces: sqlTraces(db),
    episodes: sqlEpisodes(db),
    runs: sqlRuns(db),
    approvals: sqlApprovals(db),
    rankerParams: sqlRankerParams(db),
    keys: sqlKeys(db),
    audit: sqlAudit(db),
    close: () => db.destroy(),
  };
}
