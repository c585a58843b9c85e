import { useState } from 'preact/hooks';
import type { Answer, TaskState, Trace } from '../../../shared/api-types.ts';
import { postJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Code } from '../../components/code.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Duration } from '../../components/time.tsx';
import { shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { Value } from './call-details.tsx';
import { callsOf } from './calls.ts';

type Structure = Answer<'get_structure'>;

const DEFAULTS = {
  /** Levels that are indented; deeper steps use the last one. */
  depth: 12,
};

const KINDS: Readonly<Record<Structure['nodes'][number]['type'], string>> = {
  task: 'call',
  capability: 'call',
  operation: 'compute',
  decision: 'if',
  loop: 'repeat',
  fork: 'at once',
  join: 'wait for',
};

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

/** What the program can do, whatever this run did; analysed when it is opened. */
function Outline({ id, code }: { id: string; code: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="run-outline" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Outline</summary>
      {isOpen && <Steps id={id} code={code} />}
    </details>
  );
}

function Steps({ id, code }: { id: string; code: string }) {
  const structure = useResource<Structure>(`structure of ${id}`, {
    load: (signal) => postJson('/structure', { code }, signal),
  });
  return (
    <Await of={structure.state.value} retry={structure.reload}>
      {({ nodes, unresolved }) =>
        nodes.length + unresolved.length === 0 ? (
          <p class="muted">The program makes no calls.</p>
        ) : (
          <>
            <ol class="run-outline-steps" aria-label="Steps of the program">
              {nodes.map((node) => (
                <li key={node.id} style={{ paddingLeft: `${Math.min(node.depth, DEFAULTS.depth) * 20}px` }}>
                  <span class="faint">{KINDS[node.type]}</span>{' '}
                  <span class={KINDS[node.type] === 'call' ? 'strong' : ''}>{shownLine(node.name, 80)}</span>
                  {node.branch !== null && <span class="muted"> if {shownLine(node.branch, 20)}</span>}
                  <span class="muted"> {givenTo(node)}</span>
                  <span class="faint"> line {node.at.line}</span>
                </li>
              ))}
            </ol>
            {unresolved.length > 0 && (
              <>
                <h3 class="run-part">Known only at run time</h3>
                <ul aria-label="Known only at run time">
                  {unresolved.map(({ text, at, reason }) => (
                    <li key={`${at.line}:${at.column}`}>
                      {shownLine(text, 80)} <span class="muted">{shownLine(reason)}</span>
                      <span class="faint"> line {at.line}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </>
        )
      }
    </Await>
  );
}

function givenTo({ arguments: given }: Structure['nodes'][number]): string {
  const values = Object.entries(given).map(([name, value]) => `${name} = ${value}`);
  return shownLine(values.join(', '), 120);
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
