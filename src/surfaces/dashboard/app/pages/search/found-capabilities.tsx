import type { CapabilityHit } from '../../../shared/capability-types.ts';
import { href } from '../../../shared/routes.ts';
import { CapabilityName } from '../../components/capability-name.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Panel } from '../../components/panel.tsx';
import { number, percent } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';

const DEFAULTS = {
  /** Less alike than that, and it is about something else. */
  least: 0.1,
  shown: 5,
};

/** Capabilities are scored apart from tools: likeness in meaning, times how far they can be relied on. */
export function FoundCapabilities({ hits }: { hits: readonly CapabilityHit[] }) {
  const known = useCapabilities().state.value.data?.capabilities ?? [];
  const rows = hits.filter(({ score }) => score >= DEFAULTS.least).slice(0, DEFAULTS.shown);
  if (rows.length === 0) return null;
  const reliabilityOf = (slug: string) => known.find((one) => one.slug === slug)?.reliability;
  return (
    <Panel title="Capabilities" flush>
      <DataTable
        label="Capabilities by rank"
        rows={rows}
        keyOf={({ slug }) => slug}
        hrefOf={({ slug }) => href.capability(slug)}
        columns={[
          { title: 'Name', cell: (hit) => <CapabilityName {...hit} /> },
          {
            title: 'Meaning',
            isNumber: true,
            isExtra: true,
            cell: ({ slug, score }) => {
              const reliability = reliabilityOf(slug);
              return reliability ? (score / reliability).toFixed(3) : '–';
            },
          },
          {
            title: '× reliability',
            isNumber: true,
            isExtra: true,
            cell: ({ slug }) => {
              const reliability = reliabilityOf(slug);
              return reliability === undefined ? '–' : percent(reliability);
            },
          },
          { title: 'Score', isNumber: true, cell: ({ score }) => score.toFixed(3) },
          { title: 'Uses', isNumber: true, cell: ({ uses }) => number(uses) },
        ]}
      />
    </Panel>
  );
}
