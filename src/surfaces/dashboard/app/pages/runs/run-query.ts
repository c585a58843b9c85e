import { type Query, withQuery } from '../../../shared/routes.ts';
import { location } from '../../router.ts';
import type { RunRow } from './run-row.ts';

/** What the list is narrowed down by; each stands in the address under its name. */
export const FILTERS = ['q', 'status', 'kind', 'server', 'tool', 'session', 'time'] as const;
export type Filter = (typeof FILTERS)[number];
export type RunFilters = Readonly<Partial<Record<Filter, string>>>;

/** Hours that `time` may go back. */
const TIMES = { hour: 1, day: 24, week: 24 * 7 } as const;

const HOUR_MS = 3_600_000;
/** So that the same address asks for the same for a while. */
const ROUND_MS = 60_000;

export function currentFilters(): RunFilters {
  const { query } = location.value;
  return Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = query.get(name);
      return value ? [[name, value]] : [];
    }),
  );
}

/** The address of the list with other parts; where it begins is left out unless it is among them. */
export function listHref(changes: Query): string {
  const { query } = location.value;
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'before'));
  return withQuery('/runs', { ...kept, ...changes });
}

/** What the API is asked; runs under way are no traces yet. */
export function apiQuery({ time, status, ...rest }: RunFilters, now: number): Query {
  const hours = TIMES[time as keyof typeof TIMES];
  const since = Math.floor((now - (hours ?? 0) * HOUR_MS) / ROUND_MS) * ROUND_MS;
  return {
    ...rest,
    ...(status !== 'running' && { status }),
    ...(hours && { since: new Date(since).toISOString() }),
  };
}

/** The same for a run that is followed. Its kind is known when it is over. */
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
