import type { Learning } from '../../../shared/api-types.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Await } from '../../components/states.tsx';
import { AblationTable } from './ablation-table.tsx';
import { GateState } from './gate-state.tsx';
import { GettingStarted } from './getting-started.tsx';
import { LearnedVersusSearch, LossCurve, TdErrorCurve } from './learning-charts.tsx';
import { useInsight, useLearning } from './learning-data.ts';
import { AttentionHeads, FeatureImportance } from './model-parts.tsx';
import { OnlineFigures } from './online-figures.tsx';
import { ReplayPriorities } from './replay-priorities.tsx';
import { RollBack } from './roll-back.tsx';
import { TrainButton, TrainingProgress } from './train-now.tsx';
import { TrainingHistory } from './training-history.tsx';
import './learning.css';

/** What was learned from runs, whether it may rank, and how far that can be trusted. */
export default function LearningPage() {
  const learning = useLearning();
  const { data } = learning.state.value;
  return (
    <>
      <PageHead
        title="Learning"
        lead="Runs say which tools are right for what. What is learned from them ranks only while it proves better than search."
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
              {seen.model && <AttentionHeads heads={seen.model.heads} />}
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
