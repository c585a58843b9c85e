import { type Query, withQuery } from '../../../shared/routes.ts';
import { Button } from '../../components/button.tsx';
import {
  Choice,
  changeFilter,
  clearFilters,
  filtersIn,
  SearchFilter,
  sinceOf,
  TIME_CHOICES,
  ToolFilter,
} from '../../components/filters.tsx';
import { shownLine } from '../../format.ts';
import { useServers } from '../../overview.ts';
import { location } from '../../router.ts';
import type { RunRow } from './run-row.ts';

/** Filters of the list; each is in the address under its name. */
const FILTERS = ['q', 'status', 'kind', 'server', 'tool', 'session', 'time'] as const;

type RunFilters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

const CHOICES = {
  status: [
    ['', 'Any status'],
    ['running', 'Running'],
    ['success', 'Succeeded'],
    ['error', 'Failed or waiting'],
  ],
  kind: [
    ['', 'Any kind'],
    ['tool', 'Tool'],
    ['code', 'Code'],
    ['capability', 'Capability'],
    ['workflow', 'Workflow'],
  ],
} as const;

/** The filter bar of the list. */
export function RunFilterBar({ filters }: { filters: RunFilters }) {
  const servers = useServers().state.value.data?.servers ?? [];
  return (
    <search class="filters" aria-label="Filter runs">
      <SearchFilter label="Search intents" value={filters.q} />
      <Choice name="status" label="Status" value={filters.status} options={CHOICES.status} />
      <Choice name="kind" label="Kind" value={filters.kind} options={CHOICES.kind} />
      <Choice
        name="server"
        label="Server"
        value={filters.server}
        options={[['', 'Any server'], ...servers.map(({ name }) => [name, shownLine(name, 40)] as const)]}
      />
      <ToolFilter value={filters.tool} />
      <Choice name="time" label="Time" value={filters.time} options={TIME_CHOICES} />
      {filters.session !== undefined && (
        <Button kind="quiet" icon="cross" onClick={() => changeFilter('session', '')}>
          Session {shownLine(filters.session, 12)}
        </Button>
      )}
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" onClick={() => clearFilters(FILTERS)}>
          Clear
        </Button>
      )}
    </search>
  );
}

export function currentFilters(): RunFilters {
  return filtersIn(FILTERS);
}

/** The list's address with changes; resets the page unless it is among them. */
export function listHref(changes: Query): string {
  const { query } = location.value;
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'before'));
  return withQuery('/runs', { ...kept, ...changes });
}

/** Query for the API; unfinished runs have no trace yet. */
export function apiQuery({ time, status, ...rest }: RunFilters, now: number): Query {
  return { ...rest, ...(status !== 'running' && { status }), since: sinceOf(time, now) };
}

/** The same filter for a live run. Its kind is known only at its end. */
export function isShown(row: RunRow, filters: RunFilters): boolean {
  const { q, status, kind, server, tool, session } = filters;
  return (
    (q === undefined || row.title.toLowerCase().includes(q.toLowerCase())) &&
    (status === undefined ||
      row.status === status ||
      (status === 'error' && row.status !== 'running' && row.status !== 'success')) &&
    (kind === undefined || row.kind === kind) &&
    (server === undefined || row.path.some((node) => node.startsWith(`${server}:`))) &&
    (tool === undefined || row.path.includes(tool)) &&
    (session === undefined || row.sessionId === session)
  );
}
