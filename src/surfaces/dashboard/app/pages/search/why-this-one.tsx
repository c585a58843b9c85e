import { rankingInWords } from '../../../shared/ranking-words.ts';
import type { ExplainedHit, ScoreShares } from '../../../shared/search-types.ts';
import { MovedBars } from '../../components/moved-bars.tsx';
import { percent } from '../../format.ts';
import { shownLine } from '../../shown-text.ts';

const DEFAULTS = {
  /** Reasons that are told, the strongest. */
  shown: 7,
};

/** In words and figures: what the text says, and, where what was learned ranks, what moved it and which runs. */
export function WhyThisOne({ hit, rank }: { hit: ExplainedHit; rank: number }) {
  const { parts, reasons } = hit;
  return (
    <div class="stack">
      <p>
        Number {rank}, {reasonOf(hit.shares)}.{' '}
        {parts.alpha < 1 && (
          <span class="muted">
            {reasons ? 'What was learned' : 'The text'} weighs {percent(parts.alpha)}, the graph{' '}
            {percent(1 - parts.alpha)}.
          </span>
        )}
      </p>
      {reasons && (
        <div>
          <h3>What moved it</h3>
          <MovedBars
            label="What moved this tool up or down"
            rows={reasons.parts
              .slice(0, DEFAULTS.shown)
              .map(({ name, moved }) => ({ name, title: rankingInWords(name), moved }))}
          />
        </div>
      )}
      {reasons && reasons.runs.length > 0 && (
        <div>
          <h3>Past runs that used it</h3>
          <ul class="search-runs">
            {reasons.runs.map(({ intent, similarity }) => (
              <li key={intent}>
                “{shownLine(intent, 140)}” <span class="faint">{percent(similarity)} alike</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div>
        <h3>What the text says</h3>
        <dl class="facts">
          <dt>Meaning</dt>
          <dd>{parts.whole.toFixed(3)}, the whole of what was asked</dd>
          <dt>Clause</dt>
          <dd>{parts.clause.toFixed(3)}, its best part, less what all tools have in common with it</dd>
          <dt>Words</dt>
          <dd>{parts.lexical.toFixed(3)}, words in common (BM25)</dd>
          <dt>Name</dt>
          <dd>
            {parts.name === 0 ? 'not called by its name' : `${parts.name.toFixed(2)}, called by its name`}
          </dd>
          <dt>Together</dt>
          <dd>{hit.semantic_score.toFixed(3)}</dd>
          <dt>Graph</dt>
          <dd>
            {hit.graph_score === 0
              ? 'nothing to do with tools used just before'
              : `${hit.graph_score.toFixed(3)}, close to tools used just before`}
          </dd>
        </dl>
      </div>
    </div>
  );
}

/** What speaks for it most. */
function reasonOf({ learned, graph, ...text }: ScoreShares): string {
  const byText = Object.values(text).reduce((sum, share) => sum + share, 0);
  if (graph > Math.max(learned, byText)) return 'mostly for what was used just before';
  return learned > byText ? 'mostly for what past runs taught' : 'mostly for its text';
}
