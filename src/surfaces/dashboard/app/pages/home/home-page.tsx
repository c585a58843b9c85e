import { useRef, useState } from 'preact/hooks';
import type { Server, Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { ApprovalItem } from '../../components/approval-item.tsx';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { Code } from '../../components/code.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { compact, number, plural, shownLine } from '../../format.ts';
import { useServers, useStats, useWaiting } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { Figures } from './figures.tsx';
import { LearnedLately } from './learned-lately.tsx';
import { TryIt } from './try-it.tsx';
import './home.css';

const DEFAULTS = { shown: 6 };

const STDIO = '{\n  "mcpServers": {\n    "pml": { "command": "pml", "args": ["stdio"] }\n  }\n}';

const TABS = [
  { name: 'claude', title: 'Claude Code' },
  { name: 'cursor', title: 'Cursor' },
  { name: 'any', title: 'Any MCP client' },
] as const;

/** Servers, runs, approvals and recent learning; on the first day, how to start. */
export function HomePage() {
  const isNew = useFirstDay();
  return (
    <>
      <PageHead
        title="Home"
        lead={
          isNew
            ? 'Connect a client, or try it right here.'
            : 'What is connected, what ran, and what was learned.'
        }
      />
      <div class="stack">
        <Figures />
        <Approvals />
        {isNew && (
          <div class="columns">
            <ConnectClient />
            <TryIt />
          </div>
        )}
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

/** Three ways to connect a client, ready to paste. */
function ConnectClient() {
  const [current, setCurrent] = useState<(typeof TABS)[number]['name']>('claude');
  return (
    <Panel title="Connect a client">
      <Tabs label="Clients" tabs={TABS} current={current} onChange={setCurrent}>
        <div class="connect">
          {current === 'claude' && (
            <>
              <p>Add the gateway next to your servers:</p>
              <Code label="Command" language="text" text="claude mcp add pml -- pml stdio" />
              <p>Or replace them; PML imports them, shows every change first, and can undo it:</p>
              <Code label="Command" language="text" text="pml init --from claude" />
            </>
          )}
          {current === 'cursor' && (
            <>
              <p>
                Add to <code>~/.cursor/mcp.json</code>:
              </p>
              <Code label="Configuration" language="json" text={STDIO} />
              <p>Or let PML write the file and import the servers in it:</p>
              <Code label="Command" language="text" text="pml init --from cursor" />
            </>
          )}
          {current === 'any' && (
            <>
              <p>For clients that start their servers:</p>
              <Code label="Command" language="text" text="pml stdio" />
              <p>
                For clients that connect over HTTP, with the token in the data folder (or a key from{' '}
                <code>pml keys create</code>) as bearer:
              </p>
              <Code label="Address" language="text" text={`${location.origin}/mcp`} />
            </>
          )}
        </div>
      </Tabs>
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
        {
          title: 'In flight',
          isNumber: true,
          isExtra: true,
          cell: ({ calls_in_flight: now }) => (now === 0 ? <span class="faint">–</span> : number(now)),
        },
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
              Runs of your agents appear here live.
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
