import { canonicalJson } from '../../core/policy/call-hash.ts';
import { recordedValue } from '../../core/tracing/read-values.ts';
import { isWhole } from '../../core/tracing/redact.ts';
import { type ExecutionTrace, guestFromWire } from '../../core/vocabulary/execution-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import {
  type Difference,
  type ForkPoint,
  firstDifference,
  missingFrom,
  type TapedCall,
  tapeOf,
} from '../code/cassette.ts';
import { type ActiveRuns, createSlots } from '../workflow/active-runs.ts';
import { runTasks } from '../workflow/drive-run.ts';
import { executeWorkflow } from '../workflow/execute-workflow.ts';
import type { RunDriver, Step, TaskPast, ToldCall } from '../workflow/run-driver.ts';
import type { Target } from '../workflow/targets.ts';
import type { TaskResult, TaskState } from '../workflow/task-state.ts';
import {
  callAt,
  checkPast,
  checkUnasked,
  edit,
  isHidden,
  pastOf,
  silentRun,
  unlisted,
  unrepeatable,
} from './replay-run.ts';
import { ofOneRun, type RunResult } from './run.ts';
import type { ForkRequest, ReplayOptions } from './run-requests.ts';
import type { RunScope } from './run-scope.ts';
import type { ReplayReport } from './run-service.ts';

const DEFAULTS = {
  /** How long a call that is made in a fork waits until all before it were answered, in milliseconds, and how often it looks. */
  waitMs: 5_000,
  lookMs: 5,
};

/** A task as its trace knows it. */
type RecordedTask = TaskResult & {
  readonly items?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};

/** A workflow as far as it can be run again. */
interface RecordedPlan {
  readonly plan: Plan;
  readonly tasks: readonly RecordedTask[];
  readonly calls: readonly TapedCall[];
}

/** Throws where the trace and the run do not hold what running it again takes, and says what is missing. */
async function recordedPlan({ ports }: RunScope, trace: ExecutionTrace): Promise<RecordedPlan> {
  const run = await ports.store.runs.get(trace.runId);
  const plan = run?.plan;
  if (!plan) throw unrepeatable(trace, 'its plan is no longer stored', 'Run the workflow again.');
  const [secret] = plan.notKept ?? [];
  if (secret !== undefined)
    throw unrepeatable(trace, `task ${secret} contained secrets, which are not stored`);
  const tasks = trace.taskResults as readonly RecordedTask[];
  const earlier = tasks.find((task) => task.earlier);
  if (earlier)
    throw unrepeatable(
      trace,
      `it was resumed after a pause, and the calls of ${earlier.id} are in an earlier trace`,
      'Run the workflow again.',
    );
  const open = tasks.find(({ status }) => !['success', 'error', 'skipped'].includes(status));
  if (open)
    throw unrepeatable(
      trace,
      `it was stopped before its end: ${open.id} is ${open.status}`,
      'If the run went on, its later trace has the rest: see "pml trace ls".',
    );
  const unknown = plan.tasks.find(({ id, tool }) => {
    const { status, items, programs } = tasks.find((task) => task.id === id)!;
    return tool === undefined && status === 'success' && items !== 0 && !programs;
  });
  if (unknown) throw notStored(trace, unknown.id);
  for (const { programs = {} } of tasks)
    for (const [key, { results }] of Object.entries(programs))
      if (!isWhole(results) || Object.values(results ?? {}).some(({ reply }) => reply === undefined))
        throw unrepeatable(trace, `${key} read an earlier result, which was not recorded in full`);
  return { plan, tasks, calls: tapeOf(trace.events) };
}

function notStored(trace: ExecutionTrace, task: string): PmlError {
  return unrepeatable(trace, `the clock and the random numbers of ${task} were not stored`);
}

/** The recorded calls of the tasks of a plan, taken one by one by those of another run. */
interface Retelling extends TaskPast {
  /** The first recorded call that nobody made again; null when there is none. */
  left(): TapedCall | null;
}

/** Without a fork nothing is ever called. `fork`: from its call on, calls are made. */
function retell(
  trace: ExecutionTrace,
  { tasks, calls }: RecordedPlan,
  { ports }: RunScope,
  onDifference: (difference: Difference) => void,
  fork?: ForkPoint,
): Retelling {
  const tell = (args: unknown) => canonicalJson(ports.redact(args ?? {}));
  const own = calls.filter(({ parent, node }) => parent === null && kindOf(node) === 'tool');
  const known = new Map(own.map((call) => [call, tell(call.args)]));
  const taken = new Set<TapedCall>();
  const programs = new Map<string, ReturnType<typeof pastOf>>();

  const isMade = (call: TapedCall) => taken.has(call) || programs.values().some((past) => past.isTaken(call));
  /** A fork makes its calls only once the past was repeated as a whole. */
  const repeated = async () => {
    const past = [...(fork?.past ?? [])].filter(({ node }) => kindOf(node) === 'tool');
    for (let waited = 0; !past.every(isMade); waited += DEFAULTS.lookMs) {
      const missing = past.find((call) => !isMade(call));
      if (waited >= DEFAULTS.waitMs) throw differs(`did not call ${missing!.id}`);
      await ports.sleep(DEFAULTS.lookMs);
    }
  };
  const programOf = ({ key }: Step) => {
    const entry = tasks.find(({ programs: of }) => of && Object.hasOwn(of, key))?.programs?.[key];
    // What had not run then has no past.
    if (!entry && fork) return null;
    if (!entry) throw notStored(trace, key);
    const { span, ...guest } = entry;
    const below = new Set([span]);
    for (const { traceId, parent } of calls) if (parent !== null && below.has(parent)) below.add(traceId);
    const within = calls.filter(({ traceId }) => below.has(traceId));
    return pastOf({ node: null, guest: guestFromWire(guest), calls: within, span }, onDifference, fork);
  };

  return {
    async tool({ target: { node } }, args) {
      const given = tell(args);
      const found = own.find((call) => !taken.has(call) && call.node === node && known.get(call) === given);
      if (!found) {
        // One that is new takes the place of none, once all of them were repeated.
        if (fork) {
          await repeated();
          return null;
        }
        const next = own.find((call) => !taken.has(call) && call.node === node);
        onDifference(differenceOf(node, ports.redact(args), next));
        throw differs(`called ${node} with different arguments, or once more`);
      }
      taken.add(found);
      if (!fork || fork.past.has(found)) return toldBy(found);
      await repeated();
      if (found !== fork.call) return null;
      const { result } = fork;
      if (result) return { made: { kind: 'done', value: result.value }, result: result.value };
      return fork.arguments ? { arguments: fork.arguments } : null;
    },
    program(step) {
      const past = programOf(step);
      if (past) programs.set(step.key, past);
      return past;
    },
    left: () => calls.find((call) => kindOf(call.node) === 'tool' && !isMade(call)) ?? null,
  };
}

function differenceOf(node: string, args: unknown, next: TapedCall | undefined): Difference {
  if (!next) return { what: 'extra', call: node, path: '', recorded: null, replayed: { node, args } };
  const at = firstDifference(next.args ?? {}, args ?? {});
  return { what: 'arguments', call: next.id, ...(at ?? { path: '', recorded: next.args, replayed: args }) };
}

function differs(what: string): PmlError {
  return new PmlError('replay_differs', `The run ${what}`, {
    hint: 'The calls before this one must be repeated exactly.',
  });
}

/** As the task was told it. */
function toldBy({ outcome }: TapedCall): ToldCall {
  const { success = false, result, error = '', errorType = null } = outcome ?? {};
  if (success) return { made: { kind: 'done', value: recordedValue(result) }, result };
  const message = error === '' ? 'The tool failed without saying why' : error;
  return { made: { kind: 'failed', error: { code: 'tool_failed', message }, errorType }, result };
}

/** Runs the plan of a trace once more on its recorded calls, and tells where it first differs. */
export async function replayWorkflow(
  whole: RunScope,
  trace: ExecutionTrace,
  { against, ignore = [] }: ReplayOptions,
  caller: Caller,
): Promise<ReplayReport> {
  if (against === 'live')
    throw new PmlError('forbidden', `Trace ${trace.id} cannot be replayed live: it is a workflow`, {
      hint: 'Replay it against its cassette, or run the workflow again.',
    });
  const scope = ofOneRun(asSeenBy(whole, caller));
  const { ports, settings } = scope;
  const recorded = await recordedPlan(scope, trace);
  const { plan, tasks, calls } = recorded;
  const hidden = calls.find(isHidden);
  if (hidden) throw unrepeatable(trace, `${hidden.id} was not recorded in full`);
  let first: Difference | null = null;
  const past = retell(trace, recorded, scope, (difference) => {
    first ??= difference;
  });
  const states = new Map<string, TaskState>();
  const values = new Map<string, unknown>();
  const { onProgress: _, client: __, ...silent } = caller;
  const offline = {
    ...scope,
    settings: { ...settings, record: [] },
    findTool: async ({ tool }) => unlisted(tool),
  } as RunScope;
  const note: RunDriver['note'] = (key, state) => void states.set(key, state);
  const driver: RunDriver = {
    ...{ scope: offline, isSingle: false, run: silentRun(scope, () => {}), caller: silent },
    ...{ stopped: new AbortController().signal, slots: createSlots(calls.length + 1) },
    ...{ states, values, earlier: new Set(), attempts: new Map(), past, note },
    begin: async (key, state) => note(key, state),
    onAsk() {},
    ahead: () => null,
  };
  const ids = new Set(plan.tasks.map(({ id }) => id));
  // Attempts are made as often as then, without the pauses between them.
  const again = plan.tasks.map((task) => ({
    ...task,
    ...(task.retry && { retry: { ...task.retry, delayMs: 0 } }),
  }));
  await runTasks(
    driver,
    { ...plan, tasks: again },
    plan.tasks.map(({ id }) => targetIn(tasks, id)),
    ids,
  );
  const missing = missingFrom(past);
  const ends = endDifference(recorded, driver, ports.redact, new Set(ignore));
  const difference = first ?? ends ?? missing;
  return {
    traceId: trace.id,
    against,
    isEqual: difference === null,
    difference,
    calls: calls.length,
    notWhole: calls.filter(({ outcome }) => !isWhole(outcome?.result)).map(({ id }) => id),
    replayTraceId: null,
  };
}

/** What a task runs, as its trace knows it: nothing is looked up, since nothing is called. */
function targetIn(tasks: readonly RecordedTask[], id: string): Target {
  const { node } = tasks.find((task) => task.id === id)!;
  const harmless = { isRepeatable: false, changesNothing: false, mayRunAhead: false };
  return { node, name: node, schema: {}, ...harmless, problems: [] };
}

/** The first task, in the order of the plan, that did not end as it did. */
function endDifference(
  { tasks }: RecordedPlan,
  { states, values }: RunDriver,
  redact: (value: unknown) => unknown,
  ignored: ReadonlySet<string>,
): Difference | null {
  for (const { id, status, result, error } of tasks) {
    const now = states.get(id);
    const failed = now?.status === 'error' ? now.error.message : null;
    if (now?.status !== status || (error && error.message !== failed))
      return {
        what: 'error',
        call: id,
        path: '',
        recorded: error?.message ?? status,
        replayed: failed ?? now?.status ?? null,
      };
    if (result === undefined) continue;
    const differing = firstDifference(redact(result), redact(values.get(id)), ignored);
    if (differing) return { what: 'result', call: id, ...differing };
  }
  return null;
}

/** Another run of the same plan: what came before the call is answered from the trace, the rest is done now. */
export async function forkWorkflow(
  scope: RunScope,
  activeRuns: ActiveRuns,
  trace: ExecutionTrace,
  { at, set, code }: ForkRequest,
  caller: Caller,
): Promise<RunResult> {
  if (code !== undefined)
    throw new PmlError(
      'invalid_argument',
      `Trace ${trace.id} belongs to a workflow, which has no program to replace`,
      {
        hint: 'Fork it without --code, or run the changed workflow.',
      },
    );
  const recorded = await recordedPlan(scope, trace);
  const call = callAt(recorded, trace, at);
  checkPast(recorded, trace, call);
  if (set && 'arguments' in set) await checkUnasked(scope, call);
  const before = new Set(recorded.calls.slice(0, recorded.calls.indexOf(call)));
  const fork = { call, past: before, ...edit(set) };
  const one = ofOneRun(scope);
  const past = retell(trace, recorded, one, () => {}, fork);
  const { decide: _, ...plan } = recorded.plan;
  const request = { plan, intent: trace.intentText };
  return await executeWorkflow(one, activeRuns, request, { ...caller, origin: 'fork' }, past);
}
