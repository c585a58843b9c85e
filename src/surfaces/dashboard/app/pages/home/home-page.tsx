import { useRef } from 'preact/hooks';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { useServers, useStats } from '../../overview.ts';
import { Approvals } from './approvals.tsx';
import { ConnectClient } from './connect-client.tsx';
import { Figures } from './figures.tsx';
import { LearnedLately } from './learned-lately.tsx';
import { RecentRuns } from './recent-runs.tsx';
import { ServerList } from './server-list.tsx';
import { TryIt } from './try-it.tsx';
import './home.css';

/** What is connected, what ran, what waits, what was learned; and on the first day how to begin. */
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
 * Whether nothing had run when the page was opened: what one does on it rearranges nothing. Null until that is known,
 * since a field that changes its place loses what is typed into it.
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
              Take over those of your client with <code>pml init</code>, or add one with{' '}
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
