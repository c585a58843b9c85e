import { useState } from 'preact/hooks';
import type { WholeRun } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { plural, shownLine } from '../../format.ts';
import { location, setQuery } from '../../router.ts';
import { ReplayDialog, workflowReplay } from '../runs/replay-dialog.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { PlanGraph } from './plan-graph.tsx';
import { TaskDetails } from './task-details.tsx';
import { Progress } from './workflow-list.tsx';
import { abort, isOver, pendingOf, resume, useWorkflowRun } from './workflow-runs.ts';

/** One workflow, or a single waiting call: its plan with states, and the possible actions. */
export function WorkflowPage({ id }: { id: string }) {
  const run = useWorkflowRun(id);
  return (
    <Await of={run.state.value} retry={run.reload} lines={8}>
      {(data) => <Workflow run={data} />}
    </Await>
  );
}

function Workflow({ run }: { run: WholeRun }) {
  const [isReplaying, setReplaying] = useState(false);
  const [isAborting, setAborting] = useState(false);
  const pending = pendingOf(run);
  return (
    <>
      <PageHead
        title={
          shownLine(run.intent ?? '', 140) || (run.kind === 'workflow' ? 'A workflow' : 'A waiting call')
        }
        lead={<WorkflowLead run={run} />}
        actions={
          <>
            <a class="button" href={href.run(run.run_id)}>
              Timeline
            </a>
            {run.status === 'paused' && pending.length === 0 && (
              <Button needs="run" kind="primary" icon="play" onClick={() => void resume(run.run_id)}>
                Resume
              </Button>
            )}
            {!isOver(run) && (
              <Button needs="run" kind="danger" icon="cross" onClick={() => setAborting(true)}>
                Abort
              </Button>
            )}
            {isOver(run) && run.plan && run.kind === 'workflow' && (
              <Button needs="run" kind="primary" icon="refresh" onClick={() => setReplaying(true)}>
                Run again
              </Button>
            )}
          </>
        }
      />
      <div class="stack">
        {pending.length > 0 && (
          <section class="stack" aria-label="Waiting for you">
            {pending.map((approval) => (
              <ApprovalCard key={approval.approval_id} run={run} approval={approval} linksToRun={false} />
            ))}
          </section>
        )}
        <PlanPart run={run} />
        <Decisions run={run} />
      </div>
      {isAborting && <AbortDialog run={run} onClose={() => setAborting(false)} />}
      {isReplaying && (
        <ReplayDialog
          prepare={async () =>
            workflowReplay(run.plan, run.not_kept, run.intent === null ? {} : { intent: run.intent })
          }
          before={null}
          onClose={() => setReplaying(false)}
        />
      )}
    </>
  );
}

function AbortDialog({ run, onClose }: { run: WholeRun; onClose: () => void }) {
  return (
    <Dialog
      title="Abort this run?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button
            kind="danger"
            onClick={() => {
              onClose();
              void abort(run.run_id);
            }}
          >
            Abort run
          </Button>
        </>
      }
    >
      <p>Completed calls are not undone. No further tasks start, and pending approvals are rejected.</p>
    </Dialog>
  );
}

function WorkflowLead({ run }: { run: WholeRun }) {
  return (
    <span class="row">
      <StatusBadge status={run.status} />
      {run.task_count > 1 && <Progress run={run} />}
      {run.created_at && (
        <span>
          begun <Time at={run.created_at} />
        </span>
      )}
      {run.not_kept.length > 0 && (
        <Badge tone="warn">{plural(run.not_kept.length, 'task')} held secrets</Badge>
      )}
    </span>
  );
}

function PlanPart({ run }: { run: WholeRun }) {
  const asked = location.value.query.get('task');
  if (!run.plan || run.plan.tasks.length === 0) {
    return (
      <EmptyState icon="workflows" title="No plan">
        A single call has no plan while the caller waits for your answer.
      </EmptyState>
    );
  }
  const task = run.plan.tasks.find(({ id }) => id === asked) ?? firstOfInterest(run);
  const items = Object.entries(run.tasks).filter(([key]) => key.startsWith(`${task?.id}[`));
  return (
    <div class="workflow-columns">
      <Panel title="Plan" flush>
        <PlanGraph
          plan={run.plan}
          states={run.tasks}
          selected={task?.id ?? null}
          onSelect={(id) => setQuery({ task: id })}
        />
      </Panel>
      {task && <TaskDetails task={task} state={run.tasks[task.id] ?? { status: 'pending' }} items={items} />}
    </div>
  );
}

/** The task to select first: a waiting, failed or running one, otherwise the last. */
function firstOfInterest({ plan, tasks }: WholeRun) {
  const ofStatus = (...statuses: string[]) =>
    plan?.tasks.find(({ id }) => statuses.includes(tasks[id]?.status ?? ''));
  return ofStatus('waiting', 'unknown') ?? ofStatus('error') ?? ofStatus('running') ?? plan?.tasks.at(-1);
}

function Decisions({ run }: { run: WholeRun }) {
  const settled = run.approvals.filter(({ state }) => state !== 'pending');
  if (settled.length === 0) return null;
  return (
    <Panel title="Decisions">
      <ul class="decisions">
        {settled.map(({ approval_id, node, state, settled_by, settled_at }) => (
          <li key={approval_id}>
            <StatusBadge status={state === 'used' ? 'approved' : state} />
            <span class="mono">{shownLine(node, 80)}</span>
            <span class="muted">
              by {shownLine(settled_by ?? 'nobody', 60)} {settled_at && <Time at={settled_at} />}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
