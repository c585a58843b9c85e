import type { ExplainedHit, ScoreShares } from '../../../shared/search-types.ts';

/** In the order they are stacked. */
const SHARES: readonly (readonly [keyof ScoreShares, string])[] = [
  ['semantic', 'meaning'],
  ['clause', 'clause'],
  ['lexical', 'words'],
  ['name', 'name'],
  ['learned', 'learned'],
  ['graph', 'graph'],
];

const DEFAULTS = {
  /** Shares below it are not worth a colour. */
  least: 0.0005,
};

/** A score as a stack of its parts, as long as it is beside the greatest; the figures stand below. */
export function ScoreBar({ hit, greatest }: { hit: ExplainedHit; greatest: number }) {
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

/** How long a stack is: what counts against a tool is told in figures alone. */
export function heightOf(shares: ScoreShares): number {
  return Object.values(shares).reduce((sum, value) => sum + Math.max(0, value), 0);
}

/** Says what the colours are, of those that are there. */
export function ShareLegend({ hits }: { hits: readonly ExplainedHit[] }) {
  const ABOUT: Readonly<Record<keyof ScoreShares, string>> = {
    semantic: 'the whole of what was asked, by meaning',
    clause: 'its best part, by meaning',
    lexical: 'words in common',
    name: 'called by its name',
    learned: 'what past runs taught, in place of the text',
    graph: 'what it has to do with tools used just before',
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
