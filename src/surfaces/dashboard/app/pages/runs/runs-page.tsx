import './runs.css';
import type { Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { SavedViews } from '../../components/filters.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { number, plural, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { location, navigate, route } from '../../router.ts';
import { PathSteps } from './call-list.tsx';
import { ComparePage } from './compare-page.tsx';
import { useLiveRuns } from './live-runs.ts';
import { apiQuery, currentFilters, isShown, listHref, RunFilterBar } from './run-filters.tsx';
import { RunPage } from './run-page.tsx';
import { calledOf, type RunRow, rowsOfRuns, STARTED_BY_PML } from './run-row.ts';
import { useNodeNames } from './use-run.ts';

const DEFAULTS = { page: 40 };

/** `/runs` is the list, `/runs/ID` one run, `/runs?compare=A,B` two runs side by side. */
export default function RunsPage() {
  const [id] = route.value.rest;
  if (id !== undefined) return <RunPage key={id} id={id} />;
  const [left, right] = (location.value.query.get('compare') ?? '').split(',');
  if (left && right) return <ComparePage key={`${left},${right}`} ids={[left, right]} />;
  return <RunList />;
}

/** All runs, newest first, running ones on top; filters, page and comparison are in the address. */
function RunList() {
  const filters = currentFilters();
  const { query } = location.value;
  const before = query.get('before') ?? undefined;
  const compared = query.get('compare') ?? undefined;
  const view = JSON.stringify({ filters, before });
  const traces = useResource<Traces>(`traces ${view}`, {
    load: (signal) =>
      getJson('/traces', { ...apiQuery(filters, Date.now()), before, limit: DEFAULTS.page }, signal),
    reloadOn: ({ type }) => type === 'run_finished' && before === undefined,
  });
  const live = useLiveRuns().state.value.data?.runs ?? [];
  return (
    <>
      <PageHead
        title="Runs"
        lead="All runs: what they called, when, how long they took, and how they ended."
      />
      <div class="stack">
        <nav class="calls-views" aria-label="Views">
          <SavedViews path="/runs" known={[]} />
        </nav>
        <RunFilterBar filters={filters} />
        {compared && <CompareBanner />}
        <section class="panel" aria-label="Runs">
          <Await of={traces.state.value} retry={traces.reload} lines={8}>
            {(data) => {
              const stored = filters.status === 'running' ? [] : data.traces;
              const followed = before === undefined ? live : [];
              const ids = new Set(stored.map(({ id }) => id));
              const rows = rowsOfRuns(stored, followed).filter(
                (row) => ids.has(row.id) || isShown(row, filters),
              );
              return (
                <RunTable
                  rows={rows}
                  view={view}
                  next={filters.status === 'running' ? null : data.next}
                  before={before}
                  compared={compared}
                />
              );
            }}
          </Await>
        </section>
      </div>
    </>
  );
}

function CompareBanner() {
  return (
    <div class="runs-compare-banner" role="status">
      <span>
        <strong>One more.</strong> Choose a second run to compare with.
      </span>
      <Button kind="quiet" onClick={() => navigate(listHref({ compare: undefined }))}>
        Cancel
      </Button>
    </div>
  );
}

function RunTable({
  rows,
  view,
  next,
  before,
  compared,
}: {
  rows: readonly RunRow[];
  view: string;
  next: string | null;
  before: string | undefined;
  compared: string | undefined;
}) {
  const nameOf = useNodeNames();
  const running = rows.filter(({ status }) => status === 'running').length;
  const compare = (id: string) =>
    navigate(
      listHref({
        compare: compared && compared !== id ? `${compared},${id}` : compared === id ? undefined : id,
      }),
    );
  const hrefOf = ({ id, traceId }: RunRow) =>
    compared && traceId && traceId !== compared
      ? listHref({ compare: `${compared},${traceId}` })
      : href.run(id);
  if (rows.length === 0) return <NoRuns />;
  return (
    <>
      <p class="runs-news">
        {before ? 'Older runs' : running > 0 ? `${plural(running, 'run')} in progress` : 'Newest first'}
      </p>
      <DataTable
        label="Runs"
        rows={rows}
        view={view}
        newsOf={(count) => `Show ${plural(count, 'new run')}`}
        keyOf={({ key }) => key}
        hrefOf={hrefOf}
        isCurrent={({ traceId }) => traceId !== null && traceId === compared}
        columns={[
          {
            title: 'Run',
            cell: (row) => (
              <>
                <span class="runs-title">{row.title}</span>
                <span class="runs-meta">
                  <Time at={row.startedAt} />
                  {row.durationMs !== null && <Duration ms={row.durationMs} />}
                </span>
                {row.origin !== 'agent' && <Badge tone="info">{STARTED_BY_PML[row.origin].did}</Badge>}
                {row.error && row.status === 'error' ? (
                  <span class="cell-note bad">{shownLine(row.error, 120)}</span>
                ) : (
                  <PathSteps path={row.path} nameOf={nameOf} />
                )}
              </>
            ),
          },
          { title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          { title: 'Kind', isExtra: true, cell: ({ kind }) => (kind ? <Badge>{kind}</Badge> : null) },
          {
            title: 'Calls',
            isNumber: true,
            isExtra: true,
            cell: ({ path }) => number(calledOf(path).length),
          },
          {
            title: 'Took',
            isNumber: true,
            isExtra: true,
            cell: ({ durationMs }) => (durationMs === null ? '…' : <Duration ms={durationMs} />),
          },
          { title: 'When', isNumber: true, isExtra: true, cell: ({ startedAt }) => <Time at={startedAt} /> },
          {
            title: 'Compare',
            isExtra: true,
            cell: ({ traceId, title }) =>
              traceId && (
                <input
                  type="checkbox"
                  class="runs-check"
                  aria-label={`Compare ${title}`}
                  checked={compared === traceId}
                  onChange={() => compare(traceId)}
                />
              ),
          },
        ]}
      />
      <nav class="pages" aria-label="Pages of runs">
        {before && <a href={listHref({})}>Newest</a>}
        {next && <a href={listHref({ before: next })}>Older</a>}
      </nav>
    </>
  );
}

function NoRuns() {
  const isFiltered = Object.keys(currentFilters()).length > 0;
  if (isFiltered) {
    return (
      <EmptyState icon="search" title="No matching runs">
        Remove a filter, or search for another word.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="runs" title="No runs yet">
      Runs of your agents appear here live. <a href="/">Connect a client</a>, or try something on Home.
    </EmptyState>
  );
}
