import { useEffect, useState } from 'preact/hooks';
import type { Execution, WorkflowAnswer } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, postJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/code.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import type { Replay } from './prepare-replay.ts';

type Answer = Partial<Execution> & Pick<WorkflowAnswer, 'status' | 'run_id'>;

/** Explains what a repetition does, runs it after confirmation, and links to its outcome. */
export function ReplayDialog({
  title = 'Run again',
  prepare,
  before,
  onClose,
}: {
  title?: string;
  prepare: () => Promise<Replay>;
  /** The trace to compare with. */
  before: string | null;
  onClose: () => void;
}) {
  const [replay, setReplay] = useState<Replay | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    prepare().then(setReplay, (thrown: unknown) => setError(ApiError.from(thrown)));
  }, []);
  const run = async () => {
    if (!replay) return;
    setRunning(true);
    setError(null);
    try {
      setAnswer(await postJson<Answer>(replay.path, replay.body));
    } catch (thrown) {
      setError(ApiError.from(thrown));
    }
    setRunning(false);
  };
  const runId = replay?.path === '/workflows' ? String(replay.body.run_id) : null;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        answer ? (
          <Outcome answer={answer} before={before} runId={runId} />
        ) : (
          <>
            {isRunning && runId && <a href={href.workflow(runId)}>Watch it</a>}
            <Button kind="primary" icon="play" disabled={!replay || isRunning} onClick={() => void run()}>
              {isRunning ? 'Running…' : title}
            </Button>
          </>
        )
      }
    >
      <div class="stack">
        {error && <ErrorState error={error} />}
        {replay && (
          <>
            <p>
              {replay.says} <strong>This is not a simulation:</strong> these calls are made again, with all
              their effects. The current rules apply, and calls may need your approval.
            </p>
            {replay.shown.code === undefined ? (
              <div class="replay-value">
                <JsonView value={replay.shown.value} name={replay.shown.title} />
              </div>
            ) : (
              <Code text={replay.shown.code} label={replay.shown.title} />
            )}
          </>
        )}
        {!replay && !error && <Skeleton />}
        {answer && (
          <p role="status">
            It ended as <StatusBadge status={answer.status} />
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Outcome({ answer, before, runId }: { answer: Answer; before: string | null; runId: string | null }) {
  const id = answer.trace_id ?? answer.run_id;
  return (
    <>
      {before && answer.trace_id && (
        <a href={href.runs({ compare: `${before},${answer.trace_id}` })}>Compare both</a>
      )}
      <a class="button button-primary" href={runId ? href.workflow(runId) : href.run(id)}>
        Open the new run
      </a>
    </>
  );
}
