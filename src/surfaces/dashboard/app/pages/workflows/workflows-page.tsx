import { useMemo, useState } from 'preact/hooks';
import type { Suggestion, TaskState, WholeRun } from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, getJson, postJson } from '../../api.ts';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { Await, EmptyState, ErrorState, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { plural, shownLine } from '../../format.ts';
import { onEvents } from '../../live.ts';
import { type Resource, useResource } from '../../resource.ts';
import { location, navigate, route, setQuery } from '../../router.ts';
import { refusal, who } from '../../who.ts';
import { workflowReplay } from '../runs/prepare-replay.ts';
import { ReplayDialog } from '../runs/replay-dialog.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { PlanGraph, Progress, sureOf } from './plan-graph.tsx';
import { TaskDetails } from './task-details.tsx';
import { IntentBox, WorkflowList } from './workflow-list.tsx';
import { abort, isOver, pendingOf, RUN_EVENTS, resume } from './workflow-runs.ts';
import './workflows.css';

/**
 * `/workflows` is the list with pending approvals, `/workflows/ID` one workflow, `/workflows/new` a plan for
 * an intent.
 */
export default function WorkflowsPage() {
  const [id] = route.value.rest;
  if (id === undefined) return <WorkflowList />;
  return id === 'new' ? <SuggestPage /> : <WorkflowPage key={id} id={id} />;
}

/** A plan for an intent: the reasons and confidence of each task and edge, then its inputs, then its run. */
function SuggestPage() {
  const intent = location.value.query.get('intent') ?? '';
  return (
    <>
      <PageHead title="Suggest a plan" lead="Based on past runs, the graph and the descriptions of tools." />
      <div class="stack">
        <IntentBox key={intent} intent={intent} />
        {intent && <SuggestedIfAllowed intent={intent} />}
      </div>
    </>
  );
}

/** Suggestions need the right to run, so the user's rights must be known first. */
function SuggestedIfAllowed({ intent }: { intent: string }) {
  if (who.value === undefined) return <Skeleton lines={6} />;
  const refused = refusal('run');
  return refused ? <EmptyState icon="info" title={refused} /> : <Suggested key={intent} intent={intent} />;
}

function Suggested({ intent }: { intent: string }) {
  const suggestion = useResource<Suggestion>(`suggestion ${intent}`, {
    load: (signal) => postJson('/suggest', { intent }, signal),
  });
  return (
    <Await of={suggestion.state.value} retry={suggestion.reload} lines={6}>
      {(data) =>
        data.plan.tasks.length === 0 ? (
          <EmptyState icon="search" title="No plan for this">
            {data.reason ?? 'Try other words, or connect a server that can do it.'}
          </EmptyState>
        ) : (
          <SuggestedPlan intent={intent} suggestion={data} />
        )
      }
    </Await>
  );
}

function SuggestedPlan({ intent, suggestion }: { intent: string; suggestion: Suggestion }) {
  const { plan, edges, alternatives, confidence } = suggestion;
  const asked = location.value.query.get('task');
  const task = plan.tasks.find(({ id }) => id === asked) ?? plan.tasks[0];
  return (
    <>
      <div class="workflow-columns">
        <Panel
          title={plural(plan.tasks.length, 'task')}
          actions={
            <>
              <Badge tone="accent">{sureOf(confidence)} in all</Badge>
              <NotMeant id={suggestion.suggestion_id} />
            </>
          }
          flush
        >
          <PlanGraph
            plan={plan}
            selected={task?.id ?? null}
            onSelect={(id) => setQuery({ task: id })}
            reasonOf={(from, to) => edges.find((edge) => edge.from === from && edge.to === to)?.reason}
          />
        </Panel>
        {task && (
          <TaskDetails
            task={task}
            edges={edges.filter(({ to }) => to === task.id)}
            alternatives={alternatives[task.id] ?? []}
          />
        )}
      </div>
      <RunSuggestion intent={intent} suggestion={suggestion} />
    </>
  );
}

/** PML also learns from rejected suggestions. */
function NotMeant({ id }: { id: string | null }) {
  const [isSaid, setSaid] = useState(false);
  if (id === null) return null;
  const say = async () => {
    setSaid(true);
    await tellingOutcome(postJson(`/suggestions/${encodeURIComponent(id)}/reject`), 'Suggestion rejected');
  };
  return (
    <Button needs="run" kind="quiet" disabled={isSaid} onClick={() => void say()}>
      Not what I meant
    </Button>
  );
}

/** One form for the inputs, and the run itself: its page opens as soon as it has started. */
function RunSuggestion({ intent, suggestion }: { intent: string; suggestion: Suggestion }) {
  const { plan, suggestion_id } = suggestion;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const schema = useMemo(() => schemaOf(plan.inputs), [plan]);
  const run = async (values: object) => {
    setBusy(true);
    setError(null);
    const run_id = crypto.randomUUID();
    const workflow = { ...plan, arguments: { ...plan.arguments, ...values } };
    try {
      const body = { workflow, intent, run_id, ...(suggestion_id !== undefined && { suggestion_id }) };
      await Promise.race([postJson('/workflows', body), begun(run_id)]);
      navigate(href.workflow(run_id));
    } catch (thrown) {
      setError(ApiError.from(thrown));
      setBusy(false);
    }
  };
  return (
    <Panel title={plan.inputs.length === 0 ? 'Run it' : 'Inputs'}>
      <div class="stack">
        <SchemaForm
          schema={schema}
          submit={isBusy ? 'Running…' : 'Run this plan'}
          isBusy={isBusy}
          onSubmit={(values) => void run(values)}
        />
        {error && <ErrorState error={error} />}
      </div>
    </Panel>
  );
}

function schemaOf(inputs: Suggestion['plan']['inputs']): object {
  const properties = inputs.map(({ name, schema, description }) => [
    name,
    { ...(schema as object), ...(description !== undefined && { description }) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: inputs.map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Resolves when the run calls or asks: it is stored before that, but not yet when it starts. */
function begun(runId: string): Promise<void> {
  const isSign = (event: LiveEvent) =>
    (event.type === 'trace_event' || event.type === 'approval_requested') && event.run_id === runId;
  return new Promise((resolve) => {
    const stop = onEvents((events) => {
      if (!events.some(isSign)) return;
      stop();
      resolve();
    });
  });
}

/** One workflow, or a single waiting call: its plan with states, and the possible actions. */
function WorkflowPage({ id }: { id: string }) {
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

function useWorkflowRun(id: string): Resource<WholeRun> {
  return useResource<WholeRun>(`workflow ${id}`, {
    load: (signal) => getJson(`/runs/${encodeURIComponent(id)}`, {}, signal),
    reloadOn: (event) => RUN_EVENTS.includes(event.type) && 'run_id' in event && event.run_id === id,
    apply: (run, event) =>
      event.type === 'task_changed' && event.run_id === id ? withTask(run, event) : run,
  });
}

function withTask(run: WholeRun, { task_id, status }: { task_id: string; status: string }): WholeRun {
  if (run.tasks[task_id]?.status === status) return run;
  const state = { ...run.tasks[task_id], status: status as TaskState['status'] };
  return { ...run, tasks: { ...run.tasks, [task_id]: state } };
}
