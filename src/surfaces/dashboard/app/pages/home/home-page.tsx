import { useRef } from 'preact/hooks';
import type { Alerts, Capabilities, Learning, Server, Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { WaitingList } from '../../components/approval-item.tsx';
import { Badge, Icon, type IconName, StatusBadge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState, Skeleton } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Ago, Duration, Time } from '../../components/time.tsx';
import { compact, number, plural, shownLine } from '../../format.ts';
import { useAlerts, useCapabilities, useServers, useStats, useWaiting } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { Figures } from './figures.tsx';
import { ConnectClient, DemoStory, FirstSteps, useDemo } from './first-steps.tsx';
import { TryIt } from './try-it.tsx';
import './home.css';

const DEFAULTS = {
  shown: 6,
};

/** Servers, runs, approvals and recent learning; on the first day, how to start. */
export function HomePage() {
  const isNew = useFirstDay();
  const isSettled = useSettledTop();
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
        {!isSettled && <Skeleton lines={8} />}
        <Parts isNew={isNew} isHidden={!isSettled} />
      </div>
    </>
  );
}

/** Hidden rather than absent, so that everything loads at the same time. */
function Parts({ isNew, isHidden }: { isNew: boolean | null; isHidden: boolean }) {
  return (
    <div class="stack" hidden={isHidden}>
      <AlertList />
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
  );
}

/** Whether everything is known that may stand above the lists: what comes later would push them down. */
function useSettledTop(): boolean {
  const states = [useStats().state, useAlerts().state, useWaiting().state, useDemo().state];
  const isSettled = useRef(false);
  isSettled.current ||= states.every(
    ({ value: { data, error } }) => data !== undefined || error !== undefined,
  );
  return isSettled.current;
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

type Alert = Alerts['alerts'][number];

/** What is wrong now, each with a link to it; hidden if nothing is. */
function AlertList() {
  const alerts = useAlerts().state.value.data?.alerts ?? [];
  if (alerts.length === 0) return null;
  return (
    <Panel title={`Alerts (${alerts.length})`} flush>
      <SteadyRows rows={alerts} keyOf={({ id }) => id}>
        {(steady) => (
          <ul class="lessons alerts">
            {steady.map((alert) => (
              <li key={alert.id}>
                <a href={alertHref(alert)}>
                  <Icon name="alert" />
                  <span class="lesson">
                    <span class="alert-words">{shownLine(alert.words, 300)}</span>
                    <span class="cell-note muted">{ALERT_TITLES[alert.kind]}</span>
                  </span>
                  <Ago at={alert.since} />
                </a>
              </li>
            ))}
          </ul>
        )}
      </SteadyRows>
    </Panel>
  );
}

const ALERT_TITLES: Readonly<Record<Alert['kind'], string>> = {
  failures: 'Failing tool: see its failed calls',
  latency: 'Slow tool: see its calls',
  drift: 'Drift: see what the tool is part of',
  budget: 'Budget: see the calls of today',
  approvals: 'Approvals: decide',
};

function alertHref({ kind, subject }: Alert): string {
  const tool = subject ?? undefined;
  if (kind === 'failures') return href.calls({ tool, status: 'error', time: 'hour' });
  if (kind === 'latency') return href.calls({ tool, time: 'hour' });
  if (kind === 'drift') return href.graph({ node: tool });
  return kind === 'budget' ? href.calls({ time: 'day' }) : href.approvals();
}

/** Calls that wait for approval; hidden if there are none. */
function Approvals() {
  const { waiting, reload } = useWaiting();
  if (waiting.length === 0) return null;
  return (
    <Panel title={`Waiting for you (${waiting.length})`}>
      <WaitingList approvals={waiting} onSettled={reload} />
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

interface Lesson {
  readonly id: string;
  readonly at: string;
  readonly icon: IconName;
  readonly href: string;
  readonly title: string;
  readonly note: string;
}

/** Capabilities, candidates and trainings, newest first. */
function LearnedLately() {
  const capabilities = useCapabilities();
  const learning = useResource<Learning>('learning', {
    load: (signal) => getJson('/learning', {}, signal),
    reloadOn: ({ type }) => type === 'ranker_trained' || type === 'gate_changed',
  });
  const trainings = learning.state.value.data;
  return (
    <Panel title="Recently learned" flush actions={<a href={href.learning()}>Learning</a>}>
      <Await of={capabilities.state.value} retry={capabilities.reload} lines={4}>
        {(known) => <Lessons lessons={lessonsOf(known, trainings)} />}
      </Await>
    </Panel>
  );
}

function Lessons({ lessons }: { lessons: readonly Lesson[] }) {
  if (lessons.length === 0) {
    return (
      <EmptyState icon="spark" title="Nothing yet">
        A program that succeeds twice becomes a capability that can be called by name.
      </EmptyState>
    );
  }
  return (
    <SteadyRows rows={lessons.slice(0, DEFAULTS.shown)} keyOf={({ id }) => id}>
      {(steady) => (
        <ul class="lessons">
          {steady.map((lesson) => (
            <li key={lesson.id}>
              <a href={lesson.href}>
                <Icon name={lesson.icon} />
                <span class="lesson">
                  <span class="strong ellipsis">{lesson.title}</span>
                  <span class="cell-note muted">{lesson.note}</span>
                </span>
                <Ago at={lesson.at} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </SteadyRows>
  );
}

function lessonsOf({ capabilities }: Capabilities, learning: Learning | undefined): Lesson[] {
  const admitted = capabilities.map(({ slug, description, state, created_at }): Lesson => {
    const isCandidate = state === 'candidate';
    return {
      id: `capability ${slug}`,
      at: created_at,
      icon: isCandidate ? 'clock' : 'capabilities',
      href: href.capability(slug),
      title: shownLine(slug, 60),
      note: isCandidate ? 'Seen once; becomes active after another success.' : shownLine(description, 90),
    };
  });
  const trained = (learning?.history ?? []).map(
    ({ trained_at, runs, gate }): Lesson => ({
      id: `training ${trained_at}`,
      at: trained_at,
      icon: 'learning',
      href: href.learning(),
      title: `Ranker trained on ${plural(runs, 'run')}`,
      note: gate.open ? 'In use: better than plain search.' : 'Not in use: plain search still ranks.',
    }),
  );
  return [...admitted, ...trained].sort((a, b) => b.at.localeCompare(a.at));
}
