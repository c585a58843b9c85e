import { printable } from '../../core/vocabulary/text.ts';
import type { Answer } from '../../operations/operation-client.ts';
import type { CommandContext, Terminal } from './command.ts';

/** The outcome of a tool call, a program or a capability. */
export type Execution = Answer<'run_capability'>;
export type WorkflowAnswer = Answer<'execute_workflow'>;
export type Run = Answer<'get_run'>;
export type Approval = Run['approvals'][number];
export type Plan = NonNullable<Run['plan']>;
type DefinitionChange = NonNullable<Approval['definition_changes']>[number];

export type Difference = NonNullable<Answer<'replay_trace'>['difference']>;

const DEFAULTS = {
  /** Characters of a long line to show on each side of the error. */
  around: 60,
  /** Characters of a value that differs. */
  value: 200,
  /** Characters of a task's error or reason. */
  said: 80,
};

/** The program as the user wrote it, for errors with a position. */
export interface Source {
  readonly file: string;
  readonly code: string;
}

/**
 * Prints a run's outcome: the result on stdout, everything else on stderr. Anything but success fails the
 * command.
 */
export function tellRun(
  { terminal, fail }: CommandContext,
  run: Execution,
  options: { readonly json?: boolean },
  source: Source | null = null,
): void {
  if (run.status !== 'success') fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(run)}\n`);
    return;
  }
  if (run.console !== undefined) terminal.err(`${safe(run.console)}\n`);
  if (run.error) tellError(terminal, run.error, source);
  if (run.approval) tellApproval(terminal, run.run_id, [run.approval]);
  if (run.status === 'success') tellValue(terminal, run.result);
}

/** Strings as they are, other values as JSON; prints nothing for undefined. */
export function tellValue(terminal: Terminal, value: unknown): void {
  if (value === undefined || value === null) return;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  // A pipe gets every character; a terminal gets no control sequences.
  const shown = terminal.isTty ? safe(text) : text;
  terminal.out(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** Prints what a run waits for and how to decide. */
function tellApproval(terminal: Terminal, runId: string, approvals: readonly Approval[]): void {
  terminal.err(`The run is waiting for your approval:\n${approvals.map(askedFor).join('\n')}\n`);
  terminal.err(
    `Approve it with "pml runs approve ${runId}", then resume it with "pml runs resume ${runId}". To approve later calls too, add --always tool|arguments|session.\n`,
  );
}

function tellError(terminal: Terminal, error: NonNullable<Execution['error']>, source: Source | null): void {
  const { message, hint, line, column } = error;
  if (source && line !== undefined && column !== undefined) {
    const said = message.replace(` (line ${line}, column ${column})`, '');
    terminal.err(`pml: ${safe(`${source.file}:${line}:${column}: ${said}`)}\n`);
    terminal.err(codeFrame(source.code, line, column));
  } else {
    terminal.err(`pml: ${safe(message)}\n`);
  }
  if (hint !== undefined) terminal.err(`  ${safe(hint)}\n`);
}

/** Text of a program or server without control sequences. */
function safe(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The source line with a caret under the position; empty if the source has no such line. */
export function codeFrame(source: string, line: number, column: number): string {
  const text = source.split(/\r?\n/)[line - 1];
  if (text === undefined) return '';
  const at = Math.min(column - 1, text.length);
  const from = Math.max(0, at - DEFAULTS.around);
  const before = `${from > 0 ? '…' : ''}${shown(text.slice(from, at))}`;
  const after = shown(text.slice(at, at + DEFAULTS.around));
  const margin = ' '.repeat(String(line).length);
  return `  ${line} | ${before}${after}\n  ${margin} | ${' '.repeat(before.length)}^\n`;
}

/** Replaces tabs, whose width varies between terminals. */
function shown(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}

/** Where a run first differs from what was recorded, in one line for the place and one for each side. */
export function differenceLines({ what, call, path, recorded, replayed }: Difference): string[] {
  const place = `${call ?? 'the program'}${path === '' ? '' : ` at ${path}`}`;
  const told = {
    tool: `${place}: a different call was made`,
    arguments: `${place}: different arguments`,
    result: `${place}: a different result`,
    error: `${place}: ended differently`,
    missing: `${place}: the recorded call was not made`,
    extra: `${place}: the call was not recorded`,
  }[what];
  const sides =
    what === 'missing' || what === 'extra'
      ? []
      : [`recorded  ${brief(recorded)}`, `replayed  ${brief(replayed)}`];
  return [told, ...sides].map(printable);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > DEFAULTS.value ? `${text.slice(0, DEFAULTS.value)}…` : text;
}

/** The call as it would be made, and the state of its approval. */
export function askedFor(approval: Approval): string {
  const { node, reason, state, settled_by: by, is_exact: isExact, program = {} } = approval;
  const { definition_changes: changes = [] } = approval;
  const answer = state === 'pending' ? 'pending' : `${state} by ${by ?? 'somebody'}`;
  const args = JSON.stringify(approval.arguments, null, 2).split('\n');
  return [
    `${node}  (${answer}; ${reason})`,
    ...args,
    ...Object.entries(program).flatMap(([kind, text]) => [`${kind}:`, ...text.split('\n')]),
    ...changes.flatMap(changeLines),
    ...(isExact === false ? ['Not all arguments are shown here, so the call can only be rejected.'] : []),
  ]
    .map((line) => `  ${printable(line)}`)
    .join('\n');
}

/** One changed field in full: what was accepted and is gone with `-`, what is new with `+`. */
export function changeLines({ field, diff }: DefinitionChange): string[] {
  return [`its ${field} changed:`, ...diff];
}

/**
 * Prints a workflow's outcome: values on stdout, everything else on stderr. Anything but success fails the
 * command.
 */
export function tellWorkflow(
  { terminal, fail }: CommandContext,
  result: WorkflowAnswer,
  options: { readonly json?: boolean },
  /** With a plan, only results that no other task uses are printed; without one, all of them. */
  plan: Plan | null = null,
): void {
  const { status, run_id: runId, results, approvals, error, next } = result;
  if (status !== 'success') fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(result)}\n`);
    return;
  }
  if (error) tellError(terminal, error, null);
  else if (status === 'error') {
    for (const [id, state] of Object.entries(results))
      if (state.error) terminal.err(`pml: ${printable(`${id}: ${state.error.message}`)}\n`);
  }
  if (status === 'approval_required') {
    tellApproval(
      terminal,
      runId,
      approvals.filter(({ state }) => state === 'pending'),
    );
  }
  if (next) {
    terminal.err(`A layer is complete; next: ${printable(next.join(', '))}.\n`);
    terminal.err(`Resume it with "pml runs resume ${runId}", or abort it with "pml runs abort ${runId}".\n`);
  }
  if (status !== 'success') return;
  const used = new Set(plan?.tasks.flatMap(({ depends_on: before }) => before));
  const last = Object.entries(results).filter(([id, state]) => !used.has(id) && state.result !== undefined);
  const values = last.map(([id, state]) => [id, state.result]);
  tellValue(terminal, values.length === 1 ? last[0]?.[1].result : Object.fromEntries(values));
}

type Task = Plan['tasks'][number];
export type TaskStates = Run['tasks'];
type TaskState = TaskStates[string];

const MARKS: Readonly<Record<string, string>> = {
  pending: '·',
  running: '▸',
  waiting: '?',
  unknown: '?',
  success: '✓',
  error: '✗',
  skipped: '–',
};

/** The tasks of a plan as a tree, one line each, each task under its last dependency. */
export function workflowTree({ tasks }: Plan, states: TaskStates): string[] {
  const byParent = Map.groupBy(tasks, (task) => parentOf(task, tasks));
  const lines: string[] = [];
  const draw = (task: Task, indent: string, branch: string, below: string) => {
    lines.push(`${indent}${branch}${taskLine(task, states)}`);
    const children = byParent.get(task.id) ?? [];
    for (const [i, child] of children.entries()) {
      const isLast = i === children.length - 1;
      draw(child, indent + below, isLast ? '└─ ' : '├─ ', isLast ? '   ' : '│  ');
    }
  };
  for (const root of byParent.get(null) ?? []) draw(root, '  ', '', '');
  return lines;
}

export function taskLine(task: Task, states: TaskStates): string {
  const { id, tool, capability, name } = task;
  const state = stateOf(id, states);
  const what = tool ?? (capability === undefined ? `code:${name ?? 'task'}` : capability);
  const said = state.error?.message ?? state.because ?? '';
  const shown = said.length > DEFAULTS.said ? `${said.slice(0, DEFAULTS.said)}…` : said;
  const facts = [
    state.status === 'success' || state.status === 'pending' ? '' : state.status,
    state.duration_ms === undefined ? '' : `${Math.round(state.duration_ms)} ms`,
    itemsOf(id, states),
    shown,
  ].filter((fact) => fact !== '');
  return printable([MARKS[state.status] ?? '·', id, what, facts.join(', ')].join(' ').trimEnd());
}

/** A list is running as soon as one of its items is. */
function stateOf(id: string, states: TaskStates): TaskState {
  const own = states[id] ?? { status: 'pending' };
  const items = itemStates(id, states);
  if (own.status !== 'pending' || items.length === 0) return own;
  const waits = items.find(({ status }) => status === 'waiting' || status === 'unknown');
  return waits ?? { status: 'running' };
}

function itemsOf(id: string, states: TaskStates): string {
  const items = itemStates(id, states);
  const done = items.filter(({ status }) => status === 'success').length;
  return items.length === 0 ? '' : `${done} of ${items.length} items`;
}

function itemStates(id: string, states: TaskStates): TaskState[] {
  return Object.entries(states)
    .filter(([key]) => key.startsWith(`${id}[`))
    .map(([, state]) => state);
}

/** The dependency that comes last in the plan; null for a task without any. */
function parentOf({ depends_on: before }: Task, tasks: readonly Task[]): string | null {
  return tasks.findLast(({ id }) => before.includes(id))?.id ?? null;
}
