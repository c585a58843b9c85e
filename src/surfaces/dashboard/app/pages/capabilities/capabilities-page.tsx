import './capabilities.css';
import type { CapabilitySummary, Drift } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { kindOf } from '../../../shared/vocabulary.ts';
import { getJson } from '../../api.ts';
import { CapabilityName, StatusBadge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { number, percent, plural, shownLine } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { location, route, setQuery } from '../../router.ts';
import { CapabilityView } from './capability-view.tsx';

export default function CapabilitiesPage() {
  const [slug] = route.value.rest;
  return slug === undefined ? <CapabilityList /> : <CapabilityView key={slug} slug={slug} />;
}

const STATES = ['active', 'candidate', 'quarantined'] as const;

/** All capabilities by name; search and state are in the address. */
function CapabilityList() {
  const known = useCapabilities();
  return (
    <>
      <PageHead title="Capabilities" lead="Code that succeeded repeatedly, with a name and parameters." />
      <ChangedTools />
      <Await of={known.state.value} retry={known.reload} lines={8}>
        {({ capabilities }) => (capabilities.length === 0 ? <NoneYet /> : <Found all={capabilities} />)}
      </Await>
    </>
  );
}

/** What servers changed, and what became of the capabilities that rest on it; nothing while nothing changed. */
function ChangedTools() {
  const { state } = useResource<Drift>('drift', {
    load: (signal) => getJson('/drift', {}, signal),
    reloadOn: ({ type }) =>
      type === 'drift_changed' || type === 'capability_changed' || type === 'catalogue_changed',
  });
  const { drift = [] } = state.value.data ?? {};
  if (drift.length === 0) return null;
  return (
    <Panel title="Changed tools">
      {drift.map(({ tool, of, since, changes, capabilities }) => (
        <section key={`${tool} ${of}`} class="capability-drift">
          <p>
            <span class="strong mono">{shownLine(tool, 80)}</span>{' '}
            {of === 'answers'
              ? 'answers differently'
              : 'has a changed definition that nobody has accepted yet'}
            {since !== null && (
              <>
                {' '}
                <Time at={since} />
              </>
            )}
          </p>
          <ul>
            {changes.map(({ words }) => (
              <li key={words}>{shownLine(words, 300)}</li>
            ))}
            {capabilities.map(({ slug, state: became, retested }) => (
              <li key={slug}>
                <a class="mono" href={href.capability(slug)}>
                  {shownLine(slug, 80)}
                </a>{' '}
                <StatusBadge status={became} />
                {retested !== null && <span class="cell-note muted">{shownLine(retested, 300)}</span>}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Panel>
  );
}

function Found({ all }: { all: readonly CapabilitySummary[] }) {
  const { query } = location.value;
  const text = query.get('q') ?? '';
  const state = query.get('state') ?? '';
  const rows = all.filter((one) => (state === '' || one.state === state) && isNamed(one, text));
  return (
    <>
      <div class="capability-filters">
        <input
          type="search"
          data-search
          aria-label="Search capabilities"
          placeholder="Name, description or tool"
          value={text}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="State"
          value={state}
          onInput={(event) => setQuery({ state: event.currentTarget.value })}
        >
          <option value="">All states</option>
          {STATES.map((one) => (
            <option key={one} value={one}>
              {one} ({all.filter((capability) => capability.state === one).length})
            </option>
          ))}
        </select>
      </div>
      <Panel title={plural(rows.length, 'capability').replace('capabilitys', 'capabilities')} flush>
        {rows.length === 0 ? (
          <EmptyState icon="search" title="No matches">
            Remove a filter.
          </EmptyState>
        ) : (
          <Table rows={rows} view={`${state} ${text}`} />
        )}
      </Panel>
    </>
  );
}

function Table({ rows, view }: { rows: readonly CapabilitySummary[]; view: string }) {
  return (
    <DataTable
      label="Capabilities"
      rows={rows}
      view={view}
      keyOf={({ id }) => id}
      hrefOf={({ slug }) => href.capability(slug)}
      columns={[
        { title: 'Name', cell: (capability) => <CapabilityName {...capability} /> },
        { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
        { title: 'Success', cell: (capability) => <SuccessMeter of={capability} /> },
        { title: 'Uses', isNumber: true, isExtra: true, cell: ({ uses }) => number(uses) },
        {
          title: 'Tools',
          isExtra: true,
          cell: ({ tools_used }) => {
            // Operations of the program itself say nothing about what it can do.
            const tools = tools_used.filter((tool) => kindOf(tool) !== 'operation');
            return (
              <span class="muted">
                {tools.slice(0, 2).map((tool) => (
                  <span key={tool} class="cell-note mono">
                    {shownLine(tool, 48)}
                  </span>
                ))}
                {tools.length > 2 && <span class="cell-note">and {tools.length - 2} more</span>}
              </span>
            );
          },
        },
        { title: 'Changed', isExtra: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
    />
  );
}

function NoneYet() {
  return (
    <Panel title="None yet">
      <EmptyState icon="capabilities" title="No capabilities yet">
        <p>
          When a program succeeds twice, even with different values, it becomes a capability. The values that
          differed become its parameters. Let your agent run code, or run some on{' '}
          <a href={href.home()}>Home</a>.
        </p>
      </EmptyState>
    </Panel>
  );
}

function isNamed({ slug, aliases, description, tools_used }: CapabilitySummary, text: string): boolean {
  const all = [slug, ...aliases, description, ...tools_used].join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** Success rate as a bar; the mark on it is the reliability, a lower bound given the number of runs. */
function SuccessMeter({
  of: { uses, success_rate, reliability },
}: {
  of: Pick<CapabilitySummary, 'uses' | 'success_rate' | 'reliability'>;
}) {
  if (uses === 0) return <span class="faint">not used yet</span>;
  return (
    <span class="capability-meter" title={`At least ${percent(reliability)} reliable`}>
      <span class="capability-meter-bar" aria-hidden="true">
        <i style={{ width: percent(success_rate) }} />
        <b style={{ left: percent(reliability) }} />
      </span>
      <span class="number">{percent(success_rate)}</span>
    </span>
  );
}
