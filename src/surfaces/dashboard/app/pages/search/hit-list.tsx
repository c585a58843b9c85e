import { useState } from 'preact/hooks';
import { withQuery } from '../../../shared/routes.ts';
import type { ExplainedHit } from '../../../shared/search-types.ts';
import { moveFocus } from '../../components/move-focus.ts';
import { location } from '../../router.ts';
import { shownLine } from '../../shown-text.ts';
import { heightOf, ScoreBar } from './score-bar.tsx';

const DEFAULTS = {
  /** Shown before one asks for more. */
  shown: 10,
};

/** By rank; choosing one shows its details. The arrow keys go from one to the next. */
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
