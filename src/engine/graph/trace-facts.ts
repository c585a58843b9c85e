import { directlyFollowed, type PlanDependency, type TraceFacts } from '../../core/graph/apply-trace.ts';
import type { NodePair } from '../../core/graph/graph-edge.ts';
import type {
  StaticStructure,
  StructureEdge,
  StructureNode,
} from '../../core/structure/emit/static-structure.ts';
import { type CallSpan, callSpans } from '../../core/tracing/derive-trace.ts';
import { jobValueFlow, stepEvents } from '../../core/tracing/jobs.ts';
import { observedValueFlow } from '../../core/tracing/value-flow.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { ProgramCache } from '../code/program.ts';
import type { Jobs } from '../traces/jobs.ts';

/** Of traces in the order they were stored, each made when it is asked for: those of a long job hold all of its events. */
export async function factsOf(
  programs: ProgramCache,
  traces: readonly ExecutionTrace[],
  jobs: Jobs,
): Promise<Iterable<TraceFacts>> {
  const jobsBefore: (readonly ExecutionTrace[])[] = [];
  for (const trace of traces) jobsBefore.push(await jobs.before(trace));
  return traces.values().map((trace, i) => traceFacts(programs, trace, jobsBefore[i]));
}

/**
 * What a stored trace says to the graph, with those before it in its job. All of it comes from traces, so that rebuilding
 * gives the same.
 */
export function traceFacts(
  programs: ProgramCache,
  trace: ExecutionTrace,
  job: readonly ExecutionTrace[] = [],
): TraceFacts {
  const { code, guest, events } = trace;
  const at = trace.executedAt.getTime();
  if (trace.origin === 'fork') return { at, events: [] };
  if (trace.origin !== 'agent') return { at, events, failuresOnly: true };
  if (job.length > 0) return jobFacts(trace, job);
  const prepared = code === null ? null : programs.prepare(code);
  const structure = prepared?.ok ? prepared.value.structure : null;
  return {
    at,
    events,
    valueFlow: observedValueFlow(events, { args: guest?.args, code }),
    dependencies: planDependencies(trace.taskResults),
    ...(structure && { staticProvides: providesOf(structure), conditionals: conditionalsOf(structure) }),
  };
}

interface Step {
  readonly trace: ExecutionTrace;
  readonly facts: TraceFacts;
}

/** By the first step of a job: each step is read once, not with every step that follows it. */
const STEPS = new WeakMap<ExecutionTrace, Step[]>();

function jobFacts(trace: ExecutionTrace, before: readonly ExecutionTrace[]): TraceFacts {
  const job = [...before, trace];
  const known = STEPS.get(job[0]!) ?? [];
  STEPS.set(job[0]!, known);
  const differs = known.findIndex((step, i) => step.trace !== job[i]);
  if (differs >= 0) known.length = differs;
  const events = stepEvents(job);
  const news = new Set(events.slice(known.length).flatMap((own) => own.map(({ traceId }) => traceId)));
  const flows = jobValueFlow(job, news);
  for (const step of job.slice(known.length)) {
    const own = events[known.length]!;
    const ids = new Set(own.map(({ traceId }) => traceId));
    const facts = {
      at: step.executedAt.getTime(),
      events: own,
      earlier: known.map((one) => one.facts),
      valueFlow: flows.filter(({ toTraceId }) => ids.has(toTraceId)),
    };
    known.push({ trace: step, facts });
  }
  return known.at(-1)!.facts;
}

function providesOf(structure: StaticStructure): NodePair[] {
  const nodeOf = nodesById(structure);
  return structure.edges.flatMap(({ type, from, to }) => {
    const pair = { from: nodeOf(from), to: nodeOf(to) };
    return type === 'provides' && pair.from && pair.to ? [pair as NodePair] : [];
  });
}

/** What a decision reads decides about the calls in its branches. */
function conditionalsOf({ nodes, edges }: StaticStructure): NodePair[] {
  const nodeOf = nodesById({ nodes, edges, unresolved: [] });
  const ends = (type: StructureEdge['type'], node: string, end: 'from' | 'to') =>
    edges
      .filter((edge) => edge.type === type && edge[end === 'from' ? 'to' : 'from'] === node)
      .flatMap((edge) => nodeOf(edge[end]) ?? []);
  return nodes
    .filter(({ type }) => type === 'decision')
    .flatMap(({ id }) =>
      ends('provides', id, 'from').flatMap((from) =>
        ends('conditional', id, 'to').map((to) => ({ from, to })),
      ),
    );
}

/** Capabilities are left out: a slug in old code may by now be another's. */
function nodesById({ nodes }: StaticStructure): (id: string) => NodeId | undefined {
  const byId = new Map(nodes.map((node) => [node.id, graphNode(node)]));
  return (id) => byId.get(id);
}

function graphNode(node: StructureNode): NodeId | undefined {
  if (node.type === 'task') return node.tool;
  return node.type === 'operation' ? node.operation : undefined;
}

interface TaskResult {
  readonly id?: string;
  readonly node?: string;
  /** In traces of before. */
  readonly tool?: string;
  readonly depends_on?: readonly string[];
  readonly status?: string;
  /** Over before the calls of this trace: the run was paused between. */
  readonly earlier?: boolean;
}

/**
 * Of an executed plan: which task's node waited for which, as far as it ran in this trace. A trace that was imported
 * may hold anything here.
 */
function planDependencies(taskResults: readonly unknown[]): PlanDependency[] {
  const tasks = taskResults.filter((task): task is TaskResult => typeof task === 'object' && task !== null);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return tasks.flatMap((task) => {
    const to = nodeOf(task);
    if (!to || task.earlier || !Array.isArray(task.depends_on)) return [];
    return task.depends_on.flatMap((id) => {
      const before = byId.get(id);
      const from = before && nodeOf(before);
      if (!from) return [];
      const ranEarlier = before.earlier === true && before.status === 'success';
      return [{ from, to, ...(ranEarlier && { ranEarlier }) }];
    });
  });
}

function nodeOf({ node, tool }: TaskResult): NodeId | null {
  const named: unknown = node ?? tool;
  return typeof named === 'string' ? (named as NodeId) : null;
}

/** One call directly followed another of the same parent. */
interface CallOrder {
  readonly fromTraceId: string;
  readonly toTraceId: string;
  /** Only when the operations of the program between the two are looked through. */
  readonly pastOperations: boolean;
}

/** Which call of a run came after which, in order of start: what the graph makes its `sequence` edges from. */
export function callOrder(events: readonly TraceEvent[]): CallOrder[] {
  const families = Map.groupBy(callSpans(events), ({ start }) => start.parentTraceId);
  return [...families.values()].flatMap((siblings) => {
    const calls = siblings.filter(({ start }) => kindOf(start.node) !== 'operation');
    const direct = orderOf(siblings, false);
    const known = new Set(direct.map(keyOf));
    return [...direct, ...orderOf(calls, true).filter((each) => !known.has(keyOf(each)))];
  });
}

function orderOf(siblings: readonly CallSpan[], pastOperations: boolean): CallOrder[] {
  return directlyFollowed(siblings).flatMap((followed, i) =>
    followed.map(({ start }) => ({
      fromTraceId: start.traceId,
      toTraceId: siblings[i]!.start.traceId,
      pastOperations,
    })),
  );
}

const keyOf = ({ fromTraceId, toTraceId }: CallOrder) => `${fromTraceId} ${toTraceId}`;
