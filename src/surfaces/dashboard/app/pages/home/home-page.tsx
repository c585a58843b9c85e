import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Await } from '../../components/states.tsx';
import { plural } from '../../format.ts';
import { useServers } from '../../overview.ts';
import { ServerList } from './server-list.tsx';

export function HomePage() {
  const servers = useServers();
  return (
    <>
      <PageHead title="Home" lead="What is connected, what ran, and what was learned from it." />
      <Panel title="Servers" flush>
        <Await of={servers.state.value} retry={servers.reload}>
          {(data) => <ServerList servers={data.servers} label={plural(data.servers.length, 'server')} />}
        </Await>
      </Panel>
    </>
  );
}
