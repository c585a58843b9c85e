import { useState } from 'preact/hooks';
import type { CapabilityHit, ExplainedHit, ScoreShares } from '../../../shared/api-types.ts';
import { href, withQuery } from '../../../shared/routes.ts';
import { CapabilityName } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { moveFocus } from '../../components/tabs.tsx';
import { number, percent, shownLine } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';
import { location } from '../../router.ts';

/** In stacking order. */
const SHARES: readonly (readonly [keyof ScoreShares, string])[] = [
  ['semantic', 'meaning'],
  ['clause', 'clause'],
  ['lexical', 'words'],
  ['name', 'name'],
  ['learned', 'learned'],
  ['graph', 'graph'],
];

const DEFAULTS = {
  /** Hits shown before "Show more". */
  shown: 10,
  /** Smaller shares get no colour. */
  least: 0.0005,
  /** Capabilities with a lower score are not relevant. */
  leastScore: 0.1,
  /** Capabilities to show. */
  capabilities: 5,
};

/** Hits by rank; selecting one shows its details. The arrow keys move between them. */
export function HitList({ hits, current }: { hits: readonly ExplainedHit[]; current: ExplainedHit }) {
  const { path, query } = location.value;
  const [isWhole, setWhole] = useState(hits.indexOf(current) >= DEFAULTS.shown);
  const shown = isWhole ? hits : hits.slice(0, DEFAULTS.shown);
  const greatest = Math.max(...hits.map(({ shares }) => heightOf(shares)));
  return (
    <ol class="hits" aria-label="Tools by rank" onKeyDown={(event) => moveFocus(event, 'a.hit')}>
      {shown.map((hit, i) => (
        <li key={hit.tool_id}>
          <a
            class="hit"
            href={withQuery(path, { ...Object.fromEntries(query), tool: hit.tool_id })}
            aria-current={hit === current ? 'true' : undefined}
          >
            <span class="hit-rank number">{i + 1}</span>
            <span class="hit-text">
              <span class="hit-head">
                <span class="strong mono">{shownLine(hit.tool_id, 90)}</span>
                <span class="hit-score number">{hit.final_score.toFixed(3).replace('-', '−')}</span>
              </span>
              <span class="cell-note muted">{shownLine(hit.description, 140)}</span>
              <ScoreBar hit={hit} greatest={greatest} />
            </span>
          </a>
        </li>
      ))}
      {shown.length < hits.length && (
        <li>
          <button type="button" class="more" onClick={() => setWhole(true)}>
            Show {hits.length - shown.length} more
          </button>
        </li>
      )}
    </ol>
  );
}

/** A score as a stack of its parts, relative to the greatest score; the figures are below. */
function ScoreBar({ hit, greatest }: { hit: ExplainedHit; greatest: number }) {
  const shares = SHARES.map(([name, title]) => ({ name, title, value: hit.shares[name] }));
  const told = shares.filter(({ value }) => Math.abs(value) >= DEFAULTS.least);
  return (
    <span class="score">
      <span class="score-bar" aria-hidden="true">
        {told.map(({ name, value }) => (
          <i
            key={name}
            class={`score-${name}`}
            style={{ width: `${(100 * Math.max(0, value)) / (greatest || 1)}%` }}
          />
        ))}
      </span>
      <span class="score-parts">
        {told.map(({ name, title, value }) => (
          <span key={name} class="score-part">
            <i class={`score-${name}`} aria-hidden="true" />
            {title} <b>{signed(value)}</b>
          </span>
        ))}
        {hit.parts.learned !== undefined && (
          <span>
            text alone <b>{signed(hit.semantic_score)}</b>
          </span>
        )}
      </span>
    </span>
  );
}

/** Height of a stack: negative shares appear in figures only. */
function heightOf(shares: ScoreShares): number {
  return Object.values(shares).reduce((sum, value) => sum + Math.max(0, value), 0);
}

/** Explains the colours that are present. */
export function ShareLegend({ hits }: { hits: readonly ExplainedHit[] }) {
  const ABOUT: Readonly<Record<keyof ScoreShares, string>> = {
    semantic: 'similarity of the whole query',
    clause: 'similarity of the best part of the query',
    lexical: 'shared words',
    name: 'name in the query',
    learned: 'learned from past runs, replaces the text score',
    graph: 'relation to tools used just before',
  };
  const there = SHARES.filter(([name]) =>
    hits.some(({ shares }) => Math.abs(shares[name]) >= DEFAULTS.least),
  );
  return (
    <ul class="score-legend">
      {there.map(([name, title]) => (
        <li key={name}>
          <i class={`score-${name}`} aria-hidden="true" />
          <span class="strong">{title}</span> <span class="muted">{ABOUT[name]}</span>
        </li>
      ))}
    </ul>
  );
}

function signed(value: number): string {
  return value < 0 ? `−${Math.abs(value).toFixed(2)}` : value.toFixed(2);
}

/** Capabilities are scored separately from tools: semantic similarity times reliability. */
export function FoundCapabilities({ hits }: { hits: readonly CapabilityHit[] }) {
  const known = useCapabilities().state.value.data?.capabilities ?? [];
  const rows = hits.filter(({ score }) => score >= DEFAULTS.leastScore).slice(0, DEFAULTS.capabilities);
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
