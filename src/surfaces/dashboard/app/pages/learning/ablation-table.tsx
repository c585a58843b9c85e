import type { Ablation, AblationCell } from '../../../shared/ablation.ts';
import { Panel } from '../../components/page-layout.tsx';
import { Interval, signed } from './figures.tsx';

/** Of docs/ablation.md, put in by the build. */
declare const __ABLATION__: Ablation;

const DEFAULTS = {
  /** Both ends of the lines that intervals are drawn on. */
  reach: 0.05,
};

/** What each part of the ranker is worth, measured on public data. */
export function AblationTable() {
  const { sets, rows } = __ABLATION__;
  return (
    <Panel title="Ablations" flush>
      <p class="muted learning-lead">
        Measured on public data, not on your runs: the ranker with one change, compared with the one in use.
        Differences of nDCG@10 with 95 % intervals; an interval that contains 0 shows no effect.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled by keys, too */}
      <section class="table-scroll" tabIndex={0} aria-label="Ablations, by data set">
        <table class="table ablation" aria-label="Ablations">
          <thead>
            <tr>
              <th scope="col">Variant</th>
              {sets.map((set) => (
                <th key={set} scope="col">
                  {set}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ variant, cells }) => (
              <tr key={variant}>
                <th scope="row">{variant}</th>
                {cells.map((cell, i) => (
                  <td key={sets[i]}>
                    <Cell of={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}

function Cell({ of: cell }: { of: AblationCell }) {
  if (cell === null) return <span class="faint">not measured yet</span>;
  if ('value' in cell) return <span class="number">{cell.value.toFixed(3)}</span>;
  const [low, high] = cell.ci95;
  return (
    <span class="ablation-cell">
      <Interval gain={cell.gain} ci95={cell.ci95} reach={DEFAULTS.reach} />
      <span class="number">{signed(cell.gain)}</span>
      <span class={low > 0 ? 'good' : high < 0 ? 'bad' : 'faint'}>
        {low > 0 ? 'better' : high < 0 ? 'worse' : 'no effect shown'}
      </span>
    </span>
  );
}
