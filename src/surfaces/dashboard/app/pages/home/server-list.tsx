import type { Server } from '../../../shared/api-types.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { compact, number } from '../../format.ts';
import { shownLine } from '../../shown-text.ts';

/** The servers with what they are doing; a failed one says why. */
export function ServerList({ servers, label }: { servers: readonly Server[]; label: string }) {
  return (
    <DataTable
      label={label}
      rows={servers}
      keyOf={({ name }) => name}
      columns={[
        {
          title: 'Server',
          cell: ({ name, error }) => (
            <>
              <span class="strong">{shownLine(name, 60)}</span>
              {error && <span class="cell-note bad">{shownLine(error.message)}</span>}
            </>
          ),
        },
        { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
        { title: 'Tools', isNumber: true, cell: ({ tools }) => number(tools) },
        { title: 'Tokens', isNumber: true, isExtra: true, cell: (server) => compact(server.schema_tokens) },
      ]}
    />
  );
}
