import { useEffect, useState } from 'preact/hooks';
import type {
  Capabilities,
  Execution,
  Plan,
  Trace,
  WholeRun,
  WorkflowAnswer,
} from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, getJson, postJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/code.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { type Call, callsOf } from './calls.ts';

/** Placeholder for a secret, or for the rest of a long value, in a trace. */
const NOT_KEPT = /\[redacted\]|\[cut \d+ (?:bytes|items)\]/;

/** A run to repeat: the request, and its description. */
interface Replay {
  readonly path: '/execute' | '/workflows' | `/runs/${string}/fork`;
  readonly body: Readonly<Record<string, unknown>>;
  /** Shown before the user confirms. */
  readonly says: string;
  readonly shown: { readonly title: string; readonly code?: string; readonly value?: unknown };
}

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

/** Throws an `ApiError` with the reason if the run cannot be repeated exactly. */
export async function replayOf(trace: Trace): Promise<Replay> {
  const intent = trace.intent_text === null ? {} : { intent: trace.intent_text };
  const args = (trace.guest?.args ?? {}) as Readonly<Record<string, unknown>>;
  const replay = await prepared(trace, args, intent);
  if (NOT_KEPT.test(JSON.stringify(replay.body))) {
    throw impossible(
      'This run cannot be repeated exactly: secrets are not stored and long values are cut',
      'Ask the agent to run it again.',
    );
  }
  return replay;
}

/** Goes on from a call of a run; the gateway refuses where the past cannot be repeated, and says why. */
export function forkOf(trace: Trace, call: Call): Replay {
  return {
    path: `/runs/${encodeURIComponent(trace.id)}/fork`,
    body: { at: call.id },
    says: 'Runs the program again from this call on. The calls before it are answered from the recording.',
    shown: { title: call.node, value: call.args ?? {} },
  };
}

async function prepared(trace: Trace, args: Replay['body'], intent: object): Promise<Replay> {
  switch (trace.kind) {
    case 'code':
      return {
        path: '/execute',
        body: { code: trace.code, arguments: args, ...intent },
        says: 'Runs the same program with the same arguments and the current tools.',
        shown: { title: 'Program', code: trace.code ?? '' },
      };
    case 'capability': {
      const { capabilities } = await getJson<Capabilities>('/capabilities');
      const found = capabilities.find(({ id }) => id === trace.capability_id);
      if (!found) throw impossible('The capability of this run was deleted', 'Its code is under "Program".');
      return {
        path: '/execute',
        body: { capability: found.slug, arguments: args, ...intent },
        says: 'Runs the current version of the capability with the same arguments.',
        shown: { title: `capabilities.${found.slug}`, value: args },
      };
    }
    case 'workflow': {
      const run = await getJson<WholeRun>(`/runs/${encodeURIComponent(trace.run_id)}`);
      return workflowReplay(run.plan, run.not_kept, intent);
    }
    case 'tool': {
      const [call] = callsOf(trace.events);
      if (!call) throw impossible('No call of this run was stored', 'Ask the agent to run it again.');
      return {
        path: '/execute',
        body: { tool: call.node, arguments: call.args ?? {}, ...intent },
        says: 'Makes the same call with the same arguments.',
        shown: { title: call.node, value: call.args ?? {} },
      };
    }
  }
}

export function workflowReplay(plan: Plan | null, notKept: readonly string[], intent: object): Replay {
  if (!plan) throw impossible('The plan of this run was not stored', 'Ask the agent to run it again.');
  if (notKept.length > 0) {
    throw impossible(
      `These tasks contained secrets, which are not stored: ${notKept.join(', ')}`,
      'Ask the agent to run it again.',
    );
  }
  return {
    path: '/workflows',
    body: { workflow: plan, run_id: crypto.randomUUID(), ...intent },
    says: 'Runs the same plan from the start with the current tools.',
    shown: { title: `${plan.tasks.length} tasks`, value: plan },
  };
}

function impossible(message: string, hint: string): ApiError {
  return new ApiError(0, 'not_available', message, hint);
}
