import type { Server } from '../../../shared/api-types.ts';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { compact, number, plural } from '../../format.ts';
import { shownLine } from '../../shown-text.ts';

/** The servers with what they are doing; a failed one says why. */
export function ServerList({ servers }: { servers: readonly Server[] }) {
  return (
    <DataTable
      label="Servers"
      rows={servers}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Server', cell: (server) => <ServerName server={server} /> },
        { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
        {
          title: 'Calls',
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

function ServerName({ server: { name, error, changed_tools: changed } }: { server: Server }) {
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
    </>
  );
}
