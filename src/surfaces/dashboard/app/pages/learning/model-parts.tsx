import type { LearningInsight, PartInsight } from '../../../shared/api-types.ts';
import { rankingInWords } from '../../../shared/vocabulary.ts';
import { MovedBars } from '../../components/moved-bars.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { plural, shownLine } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';
import { signed } from './learning-charts.tsx';

type Model = NonNullable<LearningInsight['model']>;

/** What the model looks at. */
export function FeatureImportance({ of: { runs, features } }: { of: Model }) {
  return (
    <Panel title="Features">
      <p class="muted learning-note">
        How far each feature moved the right tools up or down, on average over the{' '}
        {plural(runs, 'newest run')}, strongest first.
      </p>
      <MovedBars
        label="Importance of features"
        rows={features.map(({ name, moved, importance }) => ({
          name,
          title: rankingInWords(name),
          moved: moved < 0 ? -importance : importance,
        }))}
      />
    </Panel>
  );
}

/** What the heads do, each by the run it did most for. */
export function AttentionHeads({ heads }: { heads: readonly PartInsight[] }) {
  return (
    <Panel title={`Attention heads (${heads.length})`}>
      <p class="muted learning-note">
        Each head learned which kinds of intents go with which kinds of tools, where neither text nor past
        runs help. {heads.length} heads are used: four to twelve were measured to perform alike.
      </p>
      <Heads heads={heads} />
    </Panel>
  );
}

function Heads({ heads }: { heads: readonly PartInsight[] }) {
  const capabilities = useCapabilities().state.value.data?.capabilities ?? [];
  const nameOf = (node: string) => capabilities.find(({ id }) => node.endsWith(id))?.slug ?? node;
  const greatest = Math.max(...heads.map(({ importance }) => importance), Number.MIN_VALUE);
  return (
    <ol class="heads">
      {heads.map(({ name, importance, examples }, i) => (
        <li key={name}>
          <div class="heads-line">
            <span class="strong">Head {i + 1}</span>
            <span class="learning-bar" aria-hidden="true">
              <i style={{ width: `${(100 * importance) / greatest}%` }} />
            </span>
            <span class="number" title="mean absolute contribution">
              {importance.toFixed(3)}
            </span>
          </div>
          {examples.slice(0, 1).map(({ node, intent, moved }) => (
            <p key={node} class="cell-note muted">
              most for <span class="mono">{shownLine(nameOf(node), 60)}</span> ({signed(moved, 2)}), “
              {shownLine(intent, 70)}”
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}
