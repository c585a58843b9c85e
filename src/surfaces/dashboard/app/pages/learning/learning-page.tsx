import type {
  Ablation,
  AblationCell,
  Gate,
  Learning,
  LearningInsight,
  PartInsight,
} from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import { href } from '../../../shared/routes.ts';
import { rankingInWords } from '../../../shared/vocabulary.ts';
import { getJson } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { MovedBars } from '../../components/line-chart.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { number, percent, plural, shownLine } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';
import { type Resource, useResource } from '../../resource.ts';
import {
  Interval,
  LearnedVersusSearch,
  LossCurve,
  ProgressBar,
  ReplayPriorities,
  signed,
  TdErrorCurve,
} from './learning-charts.tsx';
import { TrainButton, TrainingProgress } from './trainings.tsx';
import { WeekStory } from './week-story.tsx';
import './learning.css';
import { RollBack, TrainingHistory } from './training-history.tsx';

const DEFAULTS = {
  /** Both ends of the lines on which intervals are drawn. */
  reach: 0.05,
};

/** State of learning: whether the ranker is in use, and the evidence. */
export default function LearningPage() {
  const learning = useLearning();
  const { data } = learning.state.value;
  return (
    <>
      <PageHead
        title="Learning"
        lead="PML learns from runs which tools fit which intent. The trained ranker is used only while it measurably beats search."
        actions={
          data && (
            <>
              <TrainButton of={data} onDone={learning.reload} />
              {data.model && <RollBack of={data} onDone={learning.set} />}
            </>
          )
        }
      />
      <Await of={learning.state.value} retry={learning.reload} lines={10}>
        {(known) => <Known of={known} />}
      </Await>
    </>
  );
}

function Known({ of: known }: { of: Learning }) {
  const insight = useInsight();
  return (
    <div class="stack">
      {known.training && <TrainingProgress of={known.training} />}
      {known.runs < known.least_runs && <GettingStarted runs={known.runs} least={known.least_runs} />}
      <WeekStory of={known} />
      <GateState of={known} />
      <OnlineFigures of={known} />
      <Await of={insight.state.value} retry={insight.reload} lines={8}>
        {(seen) => (
          <div class="learning-charts">
            <div class="stack">
              {seen.model && <LearnedVersusSearch trainings={seen.trainings} evidence={known.evidence} />}
              {seen.model && <FeatureImportance of={seen.model} />}
              {!seen.model && <TdErrorCurve errors={seen.td_errors} />}
            </div>
            <div class="stack">
              {seen.model && <LossCurve losses={known.losses} />}
              {seen.model && <BilinearHeads heads={seen.model.heads} />}
              {seen.model && <TdErrorCurve errors={seen.td_errors} />}
              <ReplayPriorities of={seen.replay} />
            </div>
          </div>
        )}
      </Await>
      {known.history.length > 0 && <TrainingHistory of={known.history} />}
      <AblationTable />
    </div>
  );
}

function useLearning(): Resource<Learning> {
  return useResource<Learning>('learning page', {
    load: (signal) => getJson('/learning', {}, signal),
    apply: withProgress,
    reloadOn: ({ type }) => type === 'ranker_trained' || type === 'gate_changed' || type === 'run_learned',
  });
}

/** Updates the progress of a training from events. */
function withProgress(data: Learning, event: LiveEvent): Learning {
  if (event.type === 'ranker_trained' || event.type === 'training_stopped')
    return { ...data, training: null };
  if (event.type !== 'training_progress') return data;
  const { stage, done, total, loss } = event;
  return { ...data, training: { stage, done, total, ...(loss !== undefined && { loss }) } };
}

function useInsight(): Resource<LearningInsight> {
  return useResource<LearningInsight>('learning insight', {
    load: (signal) => getJson('/learning/insight', {}, signal),
    reloadOn: ({ type }) => type === 'ranker_trained' || type === 'gate_changed',
  });
}

/** For users with few or no runs: what is missing, and how to get there. */
function GettingStarted({ runs, least }: { runs: number; least: number }) {
  return (
    <Panel title="How learning starts">
      <div class="stack">
        <p>
          {runs === 0
            ? 'No runs to learn from yet.'
            : `There ${runs === 1 ? 'is' : 'are'} ${plural(runs, 'run')} to learn from.`}{' '}
          PML can train once there are {least} runs. Until then, search ranks by text.
        </p>
        <ProgressBar label="Runs to learn from" done={runs} total={least} />
        <ol class="learning-steps">
          <li>
            Connect a client on <a href={href.home()}>Home</a> and let it work. Every run with an{' '}
            <code>intent</code> counts.
          </li>
          <li>
            Or import runs from another machine with <code>pml trace import FILE</code>.
          </li>
          <li>
            Training starts by itself after 20 more runs, or when you start it here. The trained ranker is
            used only once it ranks the newest runs better than search.
          </li>
        </ol>
      </div>
    </Panel>
  );
}

/** Statistics of the newest runs. */
function OnlineFigures({ of: { success, runs, runs_to_ten_percent, suggestions } }: { of: Learning }) {
  const { success_rate, mean_path_length, mean_absolute_td_error } = success;
  const figures = [
    { title: 'Runs considered', value: number(runs), note: 'runs with an intent' },
    { title: 'Success rate', value: told(success_rate, percent), note: 'of the 100 newest' },
    { title: 'Steps per run', value: told(mean_path_length, number), note: 'on average, of the 100 newest' },
    {
      title: 'Runs until +10 %',
      value: told(runs_to_ten_percent, number),
      note:
        runs_to_ten_percent === null
          ? 'not yet 10 % better than search'
          : 'until it was 10 % better than search',
    },
    {
      title: 'Plans accepted',
      value: told(suggestions.acceptance_rate, percent),
      note: inWords(suggestions),
    },
    {
      title: 'TD error',
      value: told(mean_absolute_td_error, (error) => error.toFixed(3)),
      note: 'prediction error, 0 to 1',
    },
  ];
  return (
    <dl class="learning-figures">
      {figures.map(({ title, value, note }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd class="learning-figure">{value}</dd>
          <dd class="muted">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function inWords({ made, accepted, edited, rejected }: Learning['suggestions']): string {
  if (made === 0) return 'no plan suggested yet';
  return `of ${plural(made, 'suggestion')}: ${accepted} run unchanged, ${edited} edited, ${rejected} rejected`;
}

function told(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}

/** From docs/ablation.md, inserted by the build. */
declare const __ABLATION__: Ablation;

/** The effect of each part of the ranker, measured on public data. */
function AblationTable() {
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

type Model = NonNullable<LearningInsight['model']>;

/** Importance of the model's features. */
function FeatureImportance({ of: { runs, features } }: { of: Model }) {
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

/** The heads, each with the runs it contributed to most. */
function BilinearHeads({ heads }: { heads: readonly PartInsight[] }) {
  return (
    <Panel title={`Bilinear heads (${heads.length})`}>
      <p class="muted learning-note">
        Each head learned which kinds of intents go with which kinds of tools, where neither text nor past
        runs help. {heads.length} heads are used: in measurements, four to twelve perform equally well.
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

/** Whether the ranker is in use, and why, in words. */
function GateState({ of: { gate, model, embedding } }: { of: Learning }) {
  return (
    <Panel
      title="Serving?"
      actions={
        gate.open ? (
          <Badge tone="good" icon="check">
            gate open
          </Badge>
        ) : (
          <Badge icon="hand">gate closed</Badge>
        )
      }
    >
      <div class="gate">
        <p class="gate-words">{gateInWords(gate, model !== null)}</p>
        {gate.n > 0 && (
          <>
            <dl class="gate-figures">
              <Judged title="Familiar questions" figures={gate} noun="newest run" />
              {gate.far.n > 0 && (
                <Judged
                  title="Unseen questions"
                  figures={gate.far}
                  noun="question"
                  condition="must not be worse"
                />
              )}
            </dl>
            <p class="muted">
              Compared with search by text alone, which is at 0. Measured as nDCG@10, which is 1 when all the
              right tools come first, on runs that were not used for training. For unseen questions, the right
              tool counts as never used before.
            </p>
          </>
        )}
        <p class="muted">
          {gate.since && (
            <>
              {gate.open ? 'Open' : 'Closed'} since <Time at={gate.since} />.{' '}
            </>
          )}
          {model &&
            `${number(model.parameters)} parameters learned from ${plural(model.runs, 'run')}, vectors by ${shownLine(embedding, 60)}.`}
        </p>
      </div>
    </Panel>
  );
}

function Judged({
  title,
  figures: { gain, ci95, n },
  noun,
  condition,
}: {
  title: string;
  figures: Gate['far'];
  noun: string;
  condition?: string;
}) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {figuresOf(gain, ci95)} on {plural(n, noun)}
        {condition && <span class="muted"> ({condition})</span>}
        <Interval gain={gain} ci95={ci95} reach={1} />
      </dd>
    </div>
  );
}

function figuresOf(gain: number, [low, high]: Gate['ci95']): string {
  return `${signed(gain)} (95 % interval ${signed(low)} to ${signed(high)})`;
}

function gateInWords({ open, gain, ci95, n, far }: Gate, isTrained: boolean): string {
  if (!isTrained) return 'No: nothing has been trained yet. Search ranks by text alone.';
  if (n === 0) return 'No: there are too few runs to evaluate. Search ranks by text alone.';
  const figures = figuresOf(gain, ci95);
  if (open) return `Yes: on the newest runs, the trained ranker is better than search alone, ${figures}.`;
  return ci95[0] > 0 && far.gain < 0
    ? 'No: the trained ranker is better on familiar questions but worse on unseen ones. Search ranks by text.'
    : `No: the trained ranker has not been shown to beat search alone, ${figures}. Search ranks by text.`;
}
