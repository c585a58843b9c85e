import type { PlanTask, TaskState } from '../../../shared/api-types.ts';
import { Badge, StatusBadge } from '../../components/badge.tsx';
import { Code } from '../../components/code.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { duration, shownLine, shownText } from '../../format.ts';
import { bodyOf, sureOf } from './plan-graph.tsx';

/** One task: what it runs, its arguments, state and result. */
export function TaskDetails({
  task,
  state,
  items,
  edges = [],
  alternatives = [],
}: {
  task: PlanTask;
  state?: TaskState | undefined;
  /** Items of a list, by key. */
  items?: readonly (readonly [string, TaskState])[];
  edges?: readonly { readonly from: string; readonly reason: string }[];
  alternatives?: readonly string[];
}) {
  const args = state?.edited_arguments ?? task.arguments;
  return (
    <Panel
      title={<span class="mono">{shownLine(task.id, 60)}</span>}
      actions={state && <StatusBadge status={state.status} />}
    >
      <div class="task-details">
        <p class="mono strong">{task.code === undefined && shownLine(bodyOf(task), 120)}</p>
        {task.reason && (
          <p class="muted">
            {task.confidence !== undefined && <Badge tone="accent">{sureOf(task.confidence)}</Badge>}{' '}
            {shownText(task.reason)}
          </p>
        )}
        {state?.because && (
          <p>
            <span class="faint">Skipped because</span> {shownText(state.because)}
          </p>
        )}
        {state?.error && (
          <div class="task-error">
            <p>{shownText(state.error.message)}</p>
            {state.error.hint && <p class="muted">{shownText(state.error.hint)}</p>}
          </div>
        )}
        {state?.duration_ms !== undefined && <p class="muted">Took {duration(state.duration_ms)}.</p>}
        {task.code !== undefined && <Code text={task.code} label="Code of the task" />}
        {Object.keys(args).length > 0 && (
          <Part
            title={state?.edited_arguments ? 'Arguments, edited by a person' : 'Arguments'}
            value={args}
          />
        )}
        {task.when !== undefined && <Part title="Only when" value={task.when} />}
        {task.for_each !== undefined && <Part title="For each of" value={task.for_each} />}
        {state?.result !== undefined && <Part title="Result" value={state.result} />}
        {items && items.length > 0 && (
          <ul class="task-items">
            {items.slice(0, 50).map(([key, item]) => (
              <li key={key}>
                <span class="mono">{shownLine(key, 40)}</span> <StatusBadge status={item.status} />
                {item.error && <span class="bad"> {shownLine(item.error.message)}</span>}
              </li>
            ))}
          </ul>
        )}
        {edges.length > 0 && (
          <ul class="task-edges">
            {edges.map(({ from, reason }) => (
              <li key={from}>
                after <strong>{shownLine(from, 40)}</strong>: {shownText(reason)}
              </li>
            ))}
          </ul>
        )}
        {alternatives.length > 0 && (
          <p class="muted">
            Alternatives:{' '}
            <span class="mono">{alternatives.map((tool) => shownLine(tool, 60)).join(', ')}</span>
          </p>
        )}
      </div>
    </Panel>
  );
}

function Part({ title, value }: { title: string; value: unknown }) {
  return (
    <section class="task-part" aria-label={title}>
      <h3>{title}</h3>
      <JsonView value={value} />
    </section>
  );
}
