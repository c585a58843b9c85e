import { useState } from 'preact/hooks';
import type { ListedRun } from '../../../shared/api-types.ts';
import { href, withQuery } from '../../../shared/routes.ts';
import { Icon, StatusBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { number, plural, shownLine } from '../../format.ts';
import { navigate } from '../../router.ts';
import { Progress } from './plan-graph.tsx';
import { pendingOf, useWorkflowRuns } from './workflow-runs.ts';

/** The form for a new plan, and past workflows. */
export function WorkflowList() {
  const runs = useWorkflowRuns();
  return (
    <>
      <PageHead title="Workflows" lead="Plans of several steps: waiting, running and finished." />
      <div class="stack">
        <Await of={runs.state.value} retry={runs.reload}>
          {(data) => (
            <>
              <WaitingLink count={data.runs.flatMap(pendingOf).length} />
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

function WaitingLink({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p class="waiting-none">
      <Icon name="hand" size={16} />
      <a href={href.approvals()}>{plural(count, 'approval')} waiting for you</a>
    </p>
  );
}

function RunTable({ runs }: { runs: readonly ListedRun[] }) {
  if (runs.length === 0)
    return (
      <EmptyState icon="workflows" title="No workflows yet">
        An agent runs one with <code>pml_execute_workflow</code>, you with <code>pml workflow run</code> or
        from a suggestion above.
      </EmptyState>
    );
  return (
    <DataTable
      label="Workflow runs"
      rows={runs}
      keyOf={({ run_id }) => run_id}
      hrefOf={({ run_id }) => href.workflow(run_id)}
      columns={[
        { title: 'Workflow', cell: (run) => <span class="strong">{titleOf(run)}</span> },
        { title: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
        { title: 'Progress', isExtra: true, cell: (run) => <Progress run={run} /> },
        { title: 'Tasks', isNumber: true, isExtra: true, cell: ({ task_count }) => number(task_count) },
        {
          title: 'Started',
          isNumber: true,
          isExtra: true,
          cell: ({ created_at: at }) => at && <Time at={at} />,
        },
      ]}
    />
  );
}

function titleOf({ intent, tasks }: ListedRun): string {
  return shownLine(intent ?? '', 120) || Object.keys(tasks).join(', ');
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
