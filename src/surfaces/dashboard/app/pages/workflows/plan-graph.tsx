import { Graph, layout } from '@dagrejs/dagre';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ListedRun, Plan, PlanTask, TaskState } from '../../../shared/api-types.ts';
import { Icon, type IconName } from '../../components/badge.tsx';
import { moveFocus } from '../../components/tabs.tsx';
import { duration, percent, shownLine } from '../../format.ts';

const DEFAULTS = { width: 200, height: 62, between: 26, layers: 48, margin: 10 };

const NARROW = '(max-width: 760px)';
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

const STATES: Readonly<Record<TaskState['status'], readonly [string, IconName]>> = {
  pending: ['waits for other tasks', 'clock'],
  running: ['running', 'play'],
  waiting: ['needs approval', 'hand'],
  unknown: ['may have run: needs your decision', 'alert'],
  success: ['done', 'check'],
  error: ['failed', 'cross'],
  skipped: ['skipped', 'more'],
};

/** A plan in layers, each task with its state; the arrow keys move between tasks. */
export function PlanGraph({
  plan,
  states,
  selected,
  onSelect,
  reasonOf,
}: {
  plan: Plan;
  /** Absent for a plan that has not run; then each task shows its confidence. */
  states?: Readonly<Record<string, TaskState>>;
  selected: string | null;
  onSelect: (id: string) => void;
  /** Why one task waits for another. */
  reasonOf?: (from: string, to: string) => string | undefined;
}) {
  const isNarrow = useMedia(NARROW);
  const placed = useMemo(() => layoutPlan(plan), [plan]);
  const tasks = new Map(plan.tasks.map((task) => [task.id, task]));
  const boxOf = (id: string, box?: Readonly<Record<string, string>>) => (
    <TaskBox
      key={id}
      task={tasks.get(id)!}
      state={states && (states[id] ?? { status: 'pending' })}
      isSelected={id === selected}
      onSelect={() => onSelect(id)}
      {...(box && { box })}
    />
  );
  if (isNarrow) {
    return (
      <ol
        class="plan-layers"
        aria-label={`Plan of ${plan.tasks.length} tasks`}
        onKeyDown={(event) => moveFocus(event, '.plan-task', STEPS)}
      >
        {layersOf(plan).map((layer) => (
          <li key={layer.join(' ')} class="plan-layer">
            {layer.map((id) => boxOf(id))}
          </li>
        ))}
      </ol>
    );
  }
  return (
    <div class="plan">
      <section
        class="plan-canvas"
        aria-label={`Plan of ${plan.tasks.length} tasks`}
        style={{ width: `${placed.width}px`, height: `${placed.height}px` }}
        onKeyDown={(event) => moveFocus(event, '.plan-task', STEPS)}
      >
        <svg width={placed.width} height={placed.height} aria-hidden="true">
          <defs>
            <marker
              id="plan-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          {placed.edges.map(({ from, to, points }) => (
            <path
              key={`${from} ${to}`}
              class={`plan-edge plan-edge-${edgeState(states, from, to)}`}
              d={pathOf(points)}
              marker-end="url(#plan-arrow)"
            >
              <title>{shownLine(reasonOf?.(from, to) ?? `${to} waits for ${from}`)}</title>
            </path>
          ))}
        </svg>
        {placed.tasks.map(({ id, left, top, width, height }) =>
          boxOf(id, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` }),
        )}
      </section>
    </div>
  );
}

function TaskBox({
  task,
  state,
  isSelected,
  onSelect,
  box,
}: {
  task: PlanTask;
  state: TaskState | undefined;
  isSelected: boolean;
  onSelect: () => void;
  /** Position; absent in a list. */
  box?: Readonly<Record<string, string>>;
}) {
  const [said, icon] = STATES[state?.status ?? 'pending'];
  const took = state?.duration_ms === undefined ? '' : ` in ${duration(state.duration_ms)}`;
  return (
    <button
      type="button"
      class={`plan-task plan-${state?.status ?? 'suggested'}`}
      {...(box && { style: box })}
      title={shownLine(bodyOf(task), 120)}
      aria-pressed={isSelected}
      onClick={onSelect}
    >
      <span class="plan-state">
        <Icon name={state ? icon : 'spark'} size={15} />
      </span>
      <span class="plan-words">
        <TaskName name={shownLine(bodyOf(task), 60)} />
        <span class="plan-said">
          {shownLine(task.id, 30)} ·{' '}
          {state ? `${said}${took}` : task.confidence === undefined ? 'suggested' : sureOf(task.confidence)}
        </span>
      </span>
    </button>
  );
}

/** The server is dropped first if space is short. */
function TaskName({ name }: { name: string }) {
  const at = name.indexOf(':') + 1;
  return (
    <span class="plan-name">
      <span class="plan-server">{name.slice(0, at)}</span>
      <span class="plan-tool">{name.slice(at)}</span>
    </span>
  );
}

export const sureOf = (confidence: number) => `${percent(Math.round(confidence * 100) / 100)} sure`;

/** The tool, capability or code of a task. */
export function bodyOf({ tool, capability, code, name }: PlanTask): string {
  if (tool !== undefined) return tool;
  if (capability !== undefined) return `capabilities.${capability}`;
  return name ? `code:${name}` : (code ?? '');
}

/** An edge is lit once its first task has finished. */
function edgeState(
  states: Readonly<Record<string, TaskState>> | undefined,
  from: string,
  to: string,
): string {
  if (!states) return 'plain';
  if (states[from]?.status !== 'success') return 'plain';
  return states[to]?.status === 'running' ? 'flowing' : 'done';
}

function useMedia(query: string): boolean {
  const [isMatching, setMatching] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const hear = () => setMatching(list.matches);
    list.addEventListener('change', hear);
    return () => list.removeEventListener('change', hear);
  }, [query]);
  return isMatching;
}

interface PlacedTask {
  readonly id: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  /** From the right side of one task to the left side of the other, around those between. */
  readonly points: readonly Point[];
}

interface PlacedPlan {
  readonly width: number;
  readonly height: number;
  /** From the first layer to the last. */
  readonly tasks: readonly PlacedTask[];
  readonly edges: readonly PlacedEdge[];
}

/** Layers from left to right: Sugiyama, Tagawa and Toda (1981), computed by dagre. */
export function layoutPlan({ tasks }: Pick<Plan, 'tasks'>): PlacedPlan {
  const { width, height, between, layers, margin } = DEFAULTS;
  const graph = new Graph()
    .setGraph({ rankdir: 'LR', nodesep: between, ranksep: layers, marginx: margin, marginy: margin })
    .setDefaultEdgeLabel(() => ({}));
  const known = new Set(tasks.map(({ id }) => id));
  for (const { id } of tasks) graph.setNode(id, { width, height });
  for (const { id, depends_on } of tasks) {
    for (const from of depends_on) if (known.has(from)) graph.setEdge(from, id);
  }
  layout(graph);
  const centre = (id: string) => graph.node(id) as unknown as Point;
  const size = graph.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    tasks: tasks
      .map(({ id }) => {
        const { x, y } = centre(id);
        return { id, left: x - width / 2, top: y - height / 2, width, height };
      })
      .sort((a, b) => a.left - b.left || a.top - b.top),
    edges: graph.edges().map((edge: { readonly v: string; readonly w: string }) => {
      const { points } = graph.edge(edge) as unknown as { points: Point[] };
      const [from, to] = [centre(edge.v), centre(edge.w)];
      return {
        from: edge.v,
        to: edge.w,
        // With three points, the middle one is between two layers; with more, every second one is inside a
        // layer.
        points: [
          { x: from.x + width / 2, y: from.y },
          ...points.slice(1, -1).filter((_, i) => i % 2 === 1),
          { x: to.x - width / 2, y: to.y },
        ],
      };
    }),
  };
}

/** A smooth curve through the points, horizontal at each of them. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let { x, y } = first;
  const curves = rest.map((point) => {
    const middle = (x + point.x) / 2;
    const curve = `C${middle} ${y} ${middle} ${point.y} ${point.x} ${point.y}`;
    ({ x, y } = point);
    return curve;
  });
  return `M${first.x} ${first.y}${curves.join('')}`;
}

/** Layers of tasks that can run in parallel: each task is in the layer after its last dependency. */
export function layersOf({ tasks }: Pick<Plan, 'tasks'>): string[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const depthOf = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const before = (byId.get(id)?.depends_on ?? []).filter((from) => byId.has(from));
    const depth = 1 + Math.max(-1, ...before.map(depthOf));
    depths.set(id, depth);
    return depth;
  };
  return [...Map.groupBy(tasks, ({ id }) => depthOf(id))]
    .sort(([a], [b]) => a - b)
    .map(([, layer]) => layer.map(({ id }) => id));
}

const ORDER = ['success', 'running', 'waiting', 'error', 'skipped'] as const;

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
