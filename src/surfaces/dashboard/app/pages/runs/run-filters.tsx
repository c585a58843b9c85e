import { useEffect, useRef, useState } from 'preact/hooks';
import type { Graph } from '../../../shared/api-types.ts';
import { type Query, withQuery } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Icon } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { shownLine } from '../../format.ts';
import { useServers } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { location, setQuery } from '../../router.ts';
import type { RunRow } from './run-row.ts';

/** Filters of the list; each is in the address under its name. */
const FILTERS = ['q', 'status', 'kind', 'server', 'tool', 'session', 'time'] as const;

type Filter = (typeof FILTERS)[number];

type RunFilters = Readonly<Partial<Record<Filter, string>>>;

/** Hours for each value of `time`. */
const TIMES = { hour: 1, day: 24, week: 24 * 7 } as const;

const HOUR_MS = 3_600_000;

/** Rounds times, so that the same address gives the same request for a while. */
const ROUND_MS = 60_000;

const DEFAULTS = {
  /** Milliseconds without typing after which the search starts. */
  typingMs: 250,
};

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
  time: [
    ['', 'Any time'],
    ['hour', 'Last hour'],
    ['day', 'Last day'],
    ['week', 'Last week'],
  ],
} as const;

const change = (name: Filter, value: string) => setQuery({ [name]: value, before: undefined });

/** The filter bar of the list. */
export function RunFilterBar({ filters }: { filters: RunFilters }) {
  const servers = useServers().state.value.data?.servers ?? [];
  const isFiltered = FILTERS.some((name) => filters[name] !== undefined);
  return (
    <search class="runs-filters" aria-label="Filter runs">
      <div class="runs-search">
        <Icon name="search" size={16} />
        <TypedFilter name="q" label="Search intents" value={filters.q ?? ''} isSearch />
      </div>
      <Choice name="status" label="Status" value={filters.status} options={CHOICES.status} />
      <Choice name="kind" label="Kind" value={filters.kind} options={CHOICES.kind} />
      <Choice
        name="server"
        label="Server"
        value={filters.server}
        options={[['', 'Any server'], ...servers.map(({ name }) => [name, shownLine(name, 40)] as const)]}
      />
      <ToolFilter value={filters.tool ?? ''} />
      <Choice name="time" label="Time" value={filters.time} options={CHOICES.time} />
      {filters.session !== undefined && (
        <Button kind="quiet" icon="cross" onClick={() => change('session', '')}>
          Session {shownLine(filters.session, 12)}
        </Button>
      )}
      {isFiltered && (
        <Button
          kind="quiet"
          onClick={() =>
            setQuery(Object.fromEntries([...FILTERS, 'before'].map((name) => [name, undefined])))
          }
        >
          Clear
        </Button>
      )}
    </search>
  );
}

function Choice({
  name,
  label,
  value = '',
  options,
}: {
  name: Filter;
  label: string;
  value: string | undefined;
  options: readonly (readonly [string, string])[];
}) {
  return (
    <select
      aria-label={label}
      class={value ? 'runs-set' : undefined}
      value={value}
      onChange={(event) => change(name, event.currentTarget.value)}
    >
      {options.map(([key, title]) => (
        <option key={key} value={key} selected={key === value}>
          {title}
        </option>
      ))}
    </select>
  );
}

/** All tools by name, as suggestions while typing. */
function ToolFilter({ value }: { value: string }) {
  const graph = useResource<Graph>('graph', { load: (signal) => getJson('/graph', {}, signal) });
  const tools = (graph.state.value.data?.nodes ?? []).filter(({ kind }) => kind === 'tool');
  return (
    <>
      <TypedFilter name="tool" label="Any tool" value={value} list="runs-tools" />
      <datalist id="runs-tools">
        {tools.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </>
  );
}

/** Updates the address after a pause in typing. */
function TypedFilter({
  name,
  label,
  value,
  isSearch = false,
  list,
}: {
  name: Filter;
  label: string;
  value: string;
  isSearch?: boolean;
  list?: string;
}) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      type={isSearch ? 'search' : 'text'}
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      class={value ? 'runs-set' : undefined}
      value={text}
      {...(isSearch && { 'data-search': true })}
      {...(list && { list })}
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => change(name, typed.trim()), DEFAULTS.typingMs);
      }}
    />
  );
}

export function currentFilters(): RunFilters {
  const { query } = location.value;
  return Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = query.get(name);
      return value ? [[name, value]] : [];
    }),
  );
}

/** The list's address with changes; resets the page unless it is among them. */
export function listHref(changes: Query): string {
  const { query } = location.value;
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'before'));
  return withQuery('/runs', { ...kept, ...changes });
}

/** Query for the API; unfinished runs have no trace yet. */
export function apiQuery({ time, status, ...rest }: RunFilters, now: number): Query {
  const hours = TIMES[time as keyof typeof TIMES];
  const since = Math.floor((now - (hours ?? 0) * HOUR_MS) / ROUND_MS) * ROUND_MS;
  return {
    ...rest,
    ...(status !== 'running' && { status }),
    ...(hours && { since: new Date(since).toISOString() }),
  };
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
