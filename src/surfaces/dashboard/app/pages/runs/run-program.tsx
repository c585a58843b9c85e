import type { TaskState, Trace } from '../../../shared/api-types.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Code } from '../../components/code.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Outline } from '../../components/outline.tsx';
import { EmptyState } from '../../components/states.tsx';
import { Duration } from '../../components/time.tsx';
import { shownLine } from '../../format.ts';
import { Value } from './call-details.tsx';
import { callsOf } from './calls.ts';

/** The program, its outline and its arguments. */
export function RunProgram({ trace }: { trace: Trace }) {
  const { args } = trace.guest ?? {};
  const isGiven = args !== undefined && args !== null && Object.keys(args).length > 0;
  return (
    <div class="stack">
      <Code text={trace.code ?? ''} label="Program" numbers />
      {trace.code !== null && <Outline id={trace.id} code={trace.code} />}
      {isGiven && <Value title="Arguments" value={args} none="" />}
    </div>
  );
}

type Task = TaskState & {
  readonly id: string;
  readonly node?: string;
  readonly console?: readonly { readonly level: string; readonly text: string }[];
};

/** The outcome: a value, console output, or the tasks of a plan. */
export function RunResult({ trace }: { trace: Trace }) {
  const tasks = trace.task_results as readonly Task[];
  if (trace.kind === 'workflow') return <TaskTable tasks={tasks} />;
  const [only] = tasks;
  const result = trace.kind === 'tool' ? callsOf(trace.events)[0]?.result : only?.result;
  const lines = only?.console ?? [];
  if (result === undefined && lines.length === 0)
    return <EmptyState icon="info" title="No result was stored" />;
  return (
    <div class="stack">
      {result !== undefined && <Value title="Result" value={result} none="" />}
      {lines.length > 0 && (
        <section aria-label="Console">
          <h3 class="run-part">Console</h3>
          <Code
            text={lines.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n')}
            language="text"
            label="Console"
          />
        </section>
      )}
    </div>
  );
}

function TaskTable({ tasks }: { tasks: readonly Task[] }) {
  return (
    <DataTable
      label="Tasks"
      rows={tasks}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Task',
          cell: ({ id, node }) => (
            <>
              <span class="strong">{shownLine(id, 60)}</span>
              <span class="cell-note muted">{shownLine(node ?? '', 60)}</span>
            </>
          ),
        },
        { title: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          title: 'Result',
          cell: ({ result, error, because }) =>
            error ? (
              <span class="bad">{shownLine(error.message)}</span>
            ) : because ? (
              <span class="muted">{shownLine(because)}</span>
            ) : result === undefined ? null : (
              <JsonView value={result} depth={2} />
            ),
        },
        {
          title: 'Took',
          isNumber: true,
          isExtra: true,
          cell: ({ duration_ms: ms }) => (ms === undefined ? null : <Duration ms={ms} />),
        },
      ]}
    />
  );
}
