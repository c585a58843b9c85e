import type { Migration } from 'kysely/migration';
import * as initial from './0001-initial.ts';
import * as codeMode from './0002-code-mode.ts';
import * as graph from './0003-graph.ts';
import * as workflows from './0004-workflows.ts';
import * as learning from './0005-learning.ts';
import * as suggestions from './0006-suggestions.ts';
import * as teams from './0007-teams.ts';
import * as people from './0008-people.ts';
import * as growth from './0009-growth.ts';
import * as lookups from './0010-lookups.ts';
import * as origins from './0011-origins.ts';
import * as traceOrder from './0012-trace-order.ts';
import * as scopes from './0013-scopes.ts';
import * as oauth from './0014-oauth.ts';
import * as calls from './0015-calls.ts';

/** In order, and never edited once released: each schema change is a new entry. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
  '0002-code-mode': codeMode,
  '0003-graph': graph,
  '0004-workflows': workflows,
  '0005-learning': learning,
  '0006-suggestions': suggestions,
  '0007-teams': teams,
  '0008-people': people,
  '0009-growth': growth,
  '0010-lookups': lookups,
  '0011-origins': origins,
  '0012-trace-order': traceOrder,
  '0013-scopes': scopes,
  '0014-oauth': oauth,
  '0015-calls': calls,
};
