import { useState } from 'preact/hooks';
import type { ListedRun, StandingApproval } from '../../../shared/api-types.ts';
import { href, withQuery } from '../../../shared/routes.ts';
import { Icon, StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Time } from '../../components/time.tsx';
import { number, plural, shownLine } from '../../format.ts';
import { navigate } from '../../router.ts';
import { refusal } from '../../who.ts';
import { ApprovalCard } from './approval-card.tsx';
import { pendingOf, revoke, useStandingApprovals, useWorkflowRuns } from './workflow-runs.ts';

const ORDER = ['success', 'running', 'waiting', 'error', 'skipped'] as const;

/** Pending approvals, the form for a new plan, and past workflows. */
export function WorkflowList() {
  const runs = useWorkflowRuns();
  return (
    <>
      <PageHead title="Workflows" lead="Plans of several steps: waiting, running and finished." />
      <div class="stack">
        <Await of={runs.state.value} retry={runs.reload}>
          {(data) => (
            <>
              <Waiting runs={data.runs} />
              {refusal('decide') === null && <AllowedAlways />}
              <IntentBox />
              <Panel title="Workflow runs" flush>
                <RunTable runs={data.runs.filter(({ kind }) => kind === 'workflow')} />
              </Panel>
            </>
          )}
        </Await>
      </div>
    </>
  );
}

function Waiting({ runs }: { runs: readonly ListedRun[] }) {
  const waiting = runs.flatMap((run) => pendingOf(run).map((approval) => ({ run, approval })));
  return (
    <Panel
      title={waiting.length === 0 ? 'Approvals' : `${plural(waiting.length, 'approval')} waiting for you`}
    >
      {waiting.length === 0 ? (
        <p class="waiting-none">
          <Icon name="check" size={16} /> Nothing needs your approval. Calls that your rules ask about appear
          here.
        </p>
      ) : (
        <SteadyRows rows={waiting} keyOf={({ approval }) => approval.approval_id}>
          {(steady) => (
            <div class="approvals">
              {steady.map(({ run, approval }) => (
                <ApprovalCard key={approval.approval_id} run={run} approval={approval} />
              ))}
            </div>
          )}
        </SteadyRows>
      )}
    </Panel>
  );
}

const SCOPES: Readonly<Record<StandingApproval['scope'], string>> = {
  tool: 'always',
  arguments: 'with these arguments',
  session: 'in one session',
};

/** What needs no approval any more, because somebody said so. */
function AllowedAlways() {
  const allowed = useStandingApprovals();
  const approvals = allowed.state.value.data?.approvals ?? [];
  if (approvals.length === 0) return null;
  return (
    <Panel title="Allowed until revoked">
      <ul class="waiting-list">
        {approvals.map((one) => (
          <li key={one.id} class="waiting-item">
            <p>
              <span class="mono strong">{shownLine(one.node, 80)}</span> {SCOPES[one.scope]}
              <span class="muted">
                {one.user === null ? '' : `, calls of ${shownLine(one.user, 40)}`}, by{' '}
                {shownLine(one.allowed_by, 40)}
              </span>
            </p>
            <Button needs="decide" onClick={() => void revoke(one).then(allowed.reload)}>
              Revoke<span class="hidden"> {shownLine(one.node, 80)}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** From an intent to a plan that can be reviewed before it runs. */
export function IntentBox({ intent = '' }: { intent?: string }) {
  const [text, setText] = useState(intent);
  return (
    <form
      class="intent-box"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) navigate(withQuery('/workflows/new', { intent: text.trim() }));
      }}
    >
      <label for="intent" class="hidden">
        What do you want to do?
      </label>
      <input
        id="intent"
        type="text"
        data-search
        autocomplete="off"
        placeholder="What do you want to do? For example: read the notes and summarise them"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button needs="run" type="submit" kind="primary" icon="spark">
        Suggest a plan
      </Button>
    </form>
  );
}

function RunTable({ runs }: { runs: readonly ListedRun[] }) {
  if (runs.length === 0) {
    return (
      <EmptyState icon="workflows" title="No workflows yet">
        An agent runs one with <code>pml_execute_workflow</code>, you with <code>pml workflow run</code> or
        from a suggestion above.
      </EmptyState>
    );
  }
  return (
    <DataTable
      label="Workflow runs"
      rows={runs}
      keyOf={({ run_id }) => run_id}
      hrefOf={({ run_id }) => href.workflow(run_id)}
      columns={[
        {
          title: 'Workflow',
          cell: (run) => (
            <span class="strong">
              {shownLine(run.intent ?? '', 120) || Object.keys(run.tasks).join(', ')}
            </span>
          ),
        },
        { title: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
        { title: 'Progress', isExtra: true, cell: (run) => <Progress run={run} /> },
        { title: 'Tasks', isNumber: true, isExtra: true, cell: ({ task_count }) => number(task_count) },
        {
          title: 'Started',
          isNumber: true,
          isExtra: true,
          cell: ({ created_at }) => created_at && <Time at={created_at} />,
        },
      ]}
    />
  );
}

/** Tasks by status as stripes: done, running, waiting, failed, skipped. */
export function Progress({ run }: { run: ListedRun }) {
  const counts = new Map<string, number>();
  for (const [key, { status }] of Object.entries(run.tasks)) {
    // Items of a list belong to their task.
    if (key.includes('[')) continue;
    const shown = status === 'unknown' ? 'waiting' : status;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  const total = Math.max(run.task_count, 1);
  const told = ORDER.filter((status) => counts.has(status)).map(
    (status) => `${counts.get(status)} ${status}`,
  );
  return (
    <span
      class="progress"
      role="img"
      aria-label={`${told.join(', ') || 'nothing yet'} of ${run.task_count} tasks`}
    >
      {ORDER.map((status) => (
        <span
          key={status}
          class={`progress-part progress-${status}`}
          style={{ width: `${((counts.get(status) ?? 0) / total) * 100}%` }}
        />
      ))}
    </span>
  );
}
