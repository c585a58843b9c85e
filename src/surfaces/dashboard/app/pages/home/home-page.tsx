import { useRef } from 'preact/hooks';
import type { Server, Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { ApprovalItem } from '../../components/approval-item.tsx';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { compact, number, plural, shownLine } from '../../format.ts';
import { useServers, useStats, useWaiting } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { Figures } from './figures.tsx';
import { ConnectClient, DemoStory, FirstSteps } from './first-steps.tsx';
import { LearnedLately } from './learned-lately.tsx';
import { TryIt } from './try-it.tsx';
import './home.css';

const DEFAULTS = { shown: 6 };

/** Servers, runs, approvals and recent learning; on the first day, how to start. */
export function HomePage() {
  const isNew = useFirstDay();
  return (
    <>
      <PageHead
        title="Home"
        lead={
          isNew
            ? 'Three steps to your first run, or try it right here.'
            : 'What is connected, what ran, and what was learned.'
        }
      />
      <div class="stack">
        <Figures />
        <Approvals />
        {isNew && (
          <div class="columns">
            <FirstSteps />
            <TryIt />
          </div>
        )}
        <DemoStory />
        <div class="columns">
          <div class="stack">
            <RecentRuns />
            <Servers />
          </div>
          <div class="stack">
            <LearnedLately />
            {isNew === false && <TryIt />}
          </div>
        </div>
        {isNew === false && <ConnectClient />}
      </div>
    </>
  );
}

/**
 * Whether nothing had run when the page was opened; later runs do not rearrange it. Null until known, because
 * a field that moves would lose what is typed into it.
 */
function useFirstDay(): boolean | null {
  const { data, error } = useStats().state.value;
  const first = useRef<boolean | null>(null);
  if (first.current === null && data) first.current = data.traces === 0;
  if (first.current === null && error) first.current = false;
  return first.current;
}

function Servers() {
  const servers = useServers();
  return (
    <Panel title="Servers" flush>
      <Await of={servers.state.value} retry={servers.reload} lines={4}>
        {({ servers: all }) =>
          all.length === 0 ? (
            <EmptyState icon="server" title="No servers are attached yet">
              Import those of your client with <code>pml init</code>, or add one with{' '}
              <code>pml servers add</code>.
            </EmptyState>
          ) : (
            <ServerList servers={all} />
          )
        }
      </Await>
    </Panel>
  );
}

/** Calls that wait for approval; hidden if there are none. */
function Approvals() {
  const { waiting, reload } = useWaiting();
  if (waiting.length === 0) return null;
  return (
    <Panel title={`Waiting for you (${waiting.length})`}>
      <SteadyRows rows={waiting} keyOf={({ approval_id }) => approval_id}>
        {(steady, isGone) => (
          <ul class="waiting-list">
            {steady.map((approval) => (
              <ApprovalItem
                key={approval.approval_id}
                approval={approval}
                isSettled={isGone(approval)}
                onSettled={reload}
              />
            ))}
          </ul>
        )}
      </SteadyRows>
    </Panel>
  );
}

/** The servers with their states; a failed one shows its error. */
function ServerList({ servers }: { servers: readonly Server[] }) {
  return (
    <DataTable
      label="Servers"
      rows={servers}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Server', cell: (server) => <ServerName server={server} /> },
        { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
        { title: 'Tools', isNumber: true, cell: ({ tools }) => number(tools) },
        { title: 'Tokens', isNumber: true, isExtra: true, cell: (server) => compact(server.schema_tokens) },
      ]}
    />
  );
}

function ServerName({ server: { name, error, changed_tools: changed, suspicions } }: { server: Server }) {
  return (
    <>
      <span class="strong">{shownLine(name, 60)}</span>
      {error && <span class="cell-note bad">{shownLine(error.message)}</span>}
      {changed.length > 0 && (
        <span class="cell-note">
          <Badge tone="warn" icon="alert">
            {plural(changed.length, 'changed tool')}
          </Badge>
        </span>
      )}
      {suspicions.map(({ tool, at, what }) => (
        <span class="cell-note bad" key={`${tool} ${at}`}>
          {shownLine(`${tool ?? name}, ${at}: ${what}`)}
        </span>
      ))}
    </>
  );
}

function RecentRuns() {
  const recent = useResource<Traces>('recent traces', {
    load: (signal) => getJson('/traces', { limit: DEFAULTS.shown }, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  });
  return (
    <Panel title="Latest runs" flush actions={<a href={href.runs()}>All runs</a>}>
      <Await of={recent.state.value} retry={recent.reload} lines={DEFAULTS.shown}>
        {({ traces }) =>
          traces.length === 0 ? (
            <EmptyState icon="runs" title="No runs yet">
              Runs of your agents appear here live. Run a program under <strong>Try it</strong>, or from a
              terminal: <code>pml run FILE.ts</code>.
            </EmptyState>
          ) : (
            <DataTable
              label="Latest runs"
              rows={traces}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => href.run(id)}
              columns={[
                {
                  title: 'Intent',
                  cell: ({ intent_text, executed_path }) =>
                    shownLine(intent_text ?? executed_path.join(' → '), 80) || 'no calls',
                },
                {
                  title: 'Outcome',
                  cell: ({ success }) => <StatusBadge status={success ? 'success' : 'error'} />,
                },
                {
                  title: 'Took',
                  isNumber: true,
                  isExtra: true,
                  cell: (run) => <Duration ms={run.duration_ms} />,
                },
                { title: 'At', isNumber: true, isExtra: true, cell: (run) => <Time at={run.executed_at} /> },
              ]}
            />
          )
        }
      </Await>
    </Panel>
  );
}
