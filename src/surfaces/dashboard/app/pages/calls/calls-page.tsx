import { useState } from 'preact/hooks';
import type { CallGroups, Calls } from '../../../shared/api-types.ts';
import { href, type Query, withQuery } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Badge, Icon, StatusBadge } from '../../components/badge.tsx';
import { Button, CopyButton } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import {
  Choice,
  changeFilter,
  clearFilters,
  filtersIn,
  SavedViews,
  SearchFilter,
  sinceOf,
  TIME_CHOICES,
  ToolFilter,
  TypedFilter,
  viewNow,
} from '../../components/filters.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { bytes, compact, number, percent, plural, shownLine } from '../../format.ts';
import { useServers } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { location } from '../../router.ts';
import { saveFrom } from '../../save-file.ts';

const DEFAULTS = { page: 50, file: 5_000 };

/** Each is in the address under its name, so that a view can be kept as a bookmark and shared. */
const FILTERS = [
  'q',
  'status',
  'error',
  'server',
  'tool',
  'user',
  'time',
  'min_ms',
  'min_bytes',
  'asked',
  'run',
  'session',
] as const;

type CallFilters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

type Call = Calls['calls'][number];
type Group = CallGroups['groups'][number];

const CHOICES = {
  status: [
    ['', 'Any outcome'],
    ['success', 'Succeeded'],
    ['error', 'Failed'],
  ],
  error: [
    ['', 'Any error'],
    ['TIMEOUT', 'Timed out'],
    ['PERMISSION', 'Not permitted'],
    ['NOT_FOUND', 'Not found'],
    ['VALIDATION', 'Invalid'],
    ['NETWORK', 'Unreachable'],
    ['UNKNOWN', 'Other error'],
  ],
  min_ms: [
    ['', 'Any duration'],
    ['100', '100 ms or more'],
    ['1000', '1 s or more'],
    ['10000', '10 s or more'],
  ],
  min_bytes: [
    ['', 'Any size'],
    ['10000', '10 KB or more'],
    ['100000', '100 KB or more'],
    ['1000000', '1 MB or more'],
  ],
  asked: [
    ['', 'Asked or not'],
    ['true', 'A person was asked'],
  ],
} as const;

/** Views that most people want at some time. */
const VIEWS: readonly (readonly [title: string, view: Query])[] = [
  ['All', {}],
  ['By tool', { group: 'tool' }],
  ['By error', { group: 'error' }],
  ['Failed', { status: 'error' }],
  ['Slow', { min_ms: 1000 }],
  ['Large', { min_bytes: 100_000 }],
  ['Approved', { asked: 'true' }],
];

/** Every call as a row, or counted by tool or error; filters, groups and page are in the address. */
export default function CallsPage() {
  const filters = filtersIn(FILTERS);
  const { group } = filtersIn(['group']);
  const query = apiQuery(filters);
  return (
    <>
      <PageHead
        title="Calls"
        lead="Every tool call: who made it, how long it took, how much it returned, and how it ended."
        actions={
          <>
            <CopyButton text={window.location.href} label="Copy the address of this view" />
            <Button
              icon="download"
              title={`The newest ${number(DEFAULTS.file)} of this view`}
              onClick={() =>
                void tellingOutcome(
                  saveFrom(
                    withQuery('/api/calls', { ...query, limit: DEFAULTS.file, format: 'csv' }),
                    'calls.csv',
                  ),
                  'Saved calls.csv',
                )
              }
            >
              CSV
            </Button>
          </>
        }
      />
      <div class="stack">
        <Views />
        <CallFilterBar filters={filters} />
        <section class="panel" aria-label="Calls">
          {group ? (
            <GroupList by={group === 'error' ? 'error' : 'tool'} filters={filters} />
          ) : (
            <CallList filters={filters} />
          )}
        </section>
      </div>
    </>
  );
}

function apiQuery({ time, ...rest }: CallFilters): Query {
  return { ...rest, since: sinceOf(time, Date.now()) };
}

function Views() {
  const current = viewNow();
  return (
    <nav class="calls-views" aria-label="Views">
      {VIEWS.map(([title, view]) => {
        const address = withQuery('/calls', view);
        return (
          <a key={title} href={address} aria-current={address === withPath(current) ? 'page' : undefined}>
            {title}
          </a>
        );
      })}
      <SavedViews path="/calls" known={VIEWS.map(([, view]) => withQuery('', view).slice(1))} />
    </nav>
  );
}

const withPath = (query: string) => (query === '' ? '/calls' : `/calls?${query}`);

function CallFilterBar({ filters }: { filters: CallFilters }) {
  const servers = useServers().state.value.data?.servers ?? [];
  // On a narrow screen the list would begin below all of them.
  const [isOpen, setOpen] = useState(false);
  return (
    <search class={`filters calls-filters${isOpen ? ' calls-filters-open' : ''}`} aria-label="Filter calls">
      <SearchFilter label="Search errors" value={filters.q} />
      <ToolFilter value={filters.tool} />
      <Choice
        name="server"
        label="Server"
        value={filters.server}
        options={[['', 'Any server'], ...servers.map(({ name }) => [name, shownLine(name, 40)] as const)]}
      />
      <TypedFilter name="user" label="Any user" value={filters.user ?? ''} />
      <Choice name="status" label="Outcome" value={filters.status} options={CHOICES.status} />
      <Choice name="error" label="Error" value={filters.error} options={CHOICES.error} />
      <Choice name="min_ms" label="Duration" value={filters.min_ms} options={CHOICES.min_ms} />
      <Choice name="min_bytes" label="Size" value={filters.min_bytes} options={CHOICES.min_bytes} />
      <Choice name="asked" label="Approval" value={filters.asked} options={CHOICES.asked} />
      <Choice name="time" label="Time" value={filters.time} options={TIME_CHOICES} />
      <button
        type="button"
        class="button button-quiet calls-more"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Fewer filters' : 'More filters'}
      </button>
      {(['run', 'session'] as const).map(
        (name) =>
          filters[name] !== undefined && (
            <Button key={name} kind="quiet" icon="cross" onClick={() => changeFilter(name, '')}>
              {name === 'run' ? 'Run' : 'Session'} {shownLine(filters[name], 12)}
            </Button>
          ),
      )}
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" onClick={() => clearFilters(FILTERS)}>
          Clear
        </Button>
      )}
    </search>
  );
}

function CallList({ filters }: { filters: CallFilters }) {
  const after = location.value.query.get('after') ?? undefined;
  const view = JSON.stringify({ filters, after });
  const calls = useResource<Calls>(`calls ${view}`, {
    load: (signal) => getJson('/calls', { ...apiQuery(filters), after, limit: DEFAULTS.page }, signal),
    reloadOn: ({ type }) => type === 'run_finished' && after === undefined,
  });
  return (
    <Await of={calls.state.value} retry={calls.reload} lines={8}>
      {({ calls: rows, next }) => (
        <>
          {rows.length === 0 && next === null ? (
            <NoCalls isFiltered={Object.keys(filters).length > 0} isLater={after !== undefined} />
          ) : (
            <>
              <p class="calls-news">
                {rows.length === 0
                  ? 'No call searched so far matches.'
                  : after
                    ? 'Older calls'
                    : 'Newest first'}
              </p>
              {rows.length > 0 && (
                <DataTable
                  label="Calls"
                  rows={rows}
                  view={view}
                  newsOf={(count) => `Show ${plural(count, 'new call')}`}
                  keyOf={({ trace_id, id }) => `${trace_id} ${id}`}
                  hrefOf={({ trace_id, id }) => href.run(trace_id, { tab: 'tree', call: id })}
                  columns={COLUMNS}
                />
              )}
            </>
          )}
          <nav class="pages" aria-label="Pages of calls">
            {after && <a href={pageHref(undefined)}>Newest</a>}
            {next && (
              <a href={pageHref(next)}>{rows.length < DEFAULTS.page ? 'Search older calls' : 'Older'}</a>
            )}
          </nav>
        </>
      )}
    </Await>
  );
}

function pageHref(after: string | undefined): string {
  return withQuery('/calls', { ...Object.fromEntries(location.value.query), after });
}

const COLUMNS: readonly Column<Call>[] = [
  {
    title: 'Call',
    cell: (call) => (
      <>
        <span class="mono calls-tool">{shownLine(call.tool, 90)}</span>
        <span class="calls-meta">
          <Time at={call.started_at} />
          {call.duration_ms !== null && <Duration ms={call.duration_ms} />}
        </span>
        {call.error ? (
          <span class="cell-note bad">{shownLine(call.error, 120)}</span>
        ) : (
          call.intent_text && <span class="cell-note muted">{shownLine(call.intent_text, 120)}</span>
        )}
      </>
    ),
  },
  {
    title: 'Outcome',
    cell: ({ success, error_type }) =>
      success ? (
        <StatusBadge status="success" />
      ) : (
        <Badge tone="bad" icon="cross">
          {error_type ?? 'not ended'}
        </Badge>
      ),
  },
  {
    title: 'Took',
    isNumber: true,
    isExtra: true,
    cell: ({ duration_ms }) => (duration_ms === null ? '–' : <Duration ms={duration_ms} />),
  },
  {
    title: 'Tokens',
    isNumber: true,
    isExtra: true,
    cell: ({ tokens }) => (tokens === null ? '–' : `≈ ${compact(tokens)}`),
  },
  {
    title: 'Size',
    isNumber: true,
    isExtra: true,
    cell: ({ sent_bytes, received_bytes }) =>
      sent_bytes === null && received_bytes === null
        ? 'not recorded'
        : bytes((sent_bytes ?? 0) + (received_bytes ?? 0)),
  },
  {
    title: 'User',
    isExtra: true,
    cell: ({ user }) => <span class="calls-whole">{user === null ? '–' : shownLine(user, 16)}</span>,
  },
  {
    title: 'Approval',
    isExtra: true,
    cell: ({ approval }) =>
      approval && (
        <span class="calls-whole">
          <Icon name="hand" size={13} />
          {approval.state === 'used' ? 'approved' : approval.state}
          {approval.settled_by && <span class="muted"> by {shownLine(approval.settled_by, 24)}</span>}
        </span>
      ),
  },
  { title: 'When', isNumber: true, isExtra: true, cell: ({ started_at }) => <Time at={started_at} /> },
];

function GroupList({ by, filters }: { by: 'tool' | 'error'; filters: CallFilters }) {
  const view = JSON.stringify({ by, filters });
  const found = useResource<CallGroups>(`call groups ${view}`, {
    load: (signal) => getJson('/calls/groups', { ...apiQuery(filters), by }, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  });
  const hrefOf = ({ key }: Group) => {
    const narrowed = by === 'tool' ? { tool: key ?? '' } : key ? { error: key } : { status: 'success' };
    return withQuery('/calls', { ...filters, ...narrowed });
  };
  return (
    <Await of={found.state.value} retry={found.reload} lines={8}>
      {({ groups, since }) =>
        groups.length === 0 ? (
          <NoCalls isFiltered={Object.keys(filters).length > 0} isLater={since !== null} />
        ) : (
          <>
            <p class="calls-news">
              {since === null ? (
                'Most calls first'
              ) : (
                <>
                  Of the newest calls, since <Time at={since} />
                </>
              )}
            </p>
            <DataTable
              label={`Calls by ${by}`}
              rows={groups}
              view={view}
              keyOf={({ key }) => key ?? ''}
              hrefOf={hrefOf}
              columns={[
                {
                  title: by === 'tool' ? 'Tool' : 'Error',
                  cell: ({ key }) => (
                    <span class={by === 'tool' ? 'mono calls-tool' : 'calls-tool'}>
                      {key === null ? 'No error' : shownLine(key, 90)}
                    </span>
                  ),
                },
                { title: 'Calls', isNumber: true, cell: ({ calls }) => number(calls) },
                {
                  title: 'Failed',
                  isNumber: true,
                  cell: ({ failed, calls }) =>
                    failed === 0 ? '–' : <span class="bad">{percent(failed / calls)}</span>,
                },
                { title: 'Median', isNumber: true, isExtra: true, cell: ({ median_ms }) => time(median_ms) },
                { title: 'p95', isNumber: true, isExtra: true, cell: ({ p95_ms }) => time(p95_ms) },
                {
                  title: 'Tokens',
                  isNumber: true,
                  isExtra: true,
                  cell: ({ tokens }) => `≈ ${compact(tokens)}`,
                },
                { title: 'Last', isNumber: true, isExtra: true, cell: ({ newest }) => <Time at={newest} /> },
              ]}
            />
          </>
        )
      }
    </Await>
  );
}

const time = (ms: number | null) => (ms === null ? '–' : <Duration ms={ms} />);

function NoCalls({ isFiltered, isLater }: { isFiltered: boolean; isLater: boolean }) {
  if (isFiltered || isLater) {
    return (
      <EmptyState icon="search" title="No matching calls">
        Remove a filter, or look at another time.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="calls" title="No calls yet">
      Each call that your agents make becomes a row here. <a href="/">Connect a client</a>, or try something
      on Home.
    </EmptyState>
  );
}
