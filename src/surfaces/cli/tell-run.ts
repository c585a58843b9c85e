import type { Plan } from '../../core/vocabulary/plan.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { CodeRun, WorkflowResult } from '../../engine/gateway.ts';
import type { Approval, CodeError } from '../../engine/ports.ts';
import type { DefinitionChange, ShownApproval } from '../../engine/runs/pending-runs.ts';
import { codeRunToWire, consoleText, workflowToWire } from '../../operations/shapes/run.ts';
import type { CommandContext, Terminal } from './command.ts';

interface ToldState {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const DEFAULTS = {
  /** Characters of a long line that are shown on each side of the place. */
  around: 60,
};

/** The program as the person has it, for errors that have a place in it. */
export interface Source {
  readonly file: string;
  readonly code: string;
}

/** Tells what a run gave: the result on stdout, everything else on stderr. Anything but success fails the command. */
export function tellRun(
  { terminal, fail }: CommandContext,
  run: CodeRun,
  options: { readonly json?: boolean },
  source: Source | null = null,
): void {
  if (run.status !== 'success') fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(codeRunToWire(run))}\n`);
    return;
  }
  if (run.console.length > 0) terminal.err(`${safe(consoleText(run.console))}\n`);
  if (run.error) tellError(terminal, run.error, source);
  if (run.approval) tellApproval(terminal, run.runId, [run.approval]);
  if (run.status === 'success') tellValue(terminal, run.result);
}

/** Text as it is, all else as JSON; nothing for a program that returned nothing. */
export function tellValue(terminal: Terminal, value: unknown): void {
  if (value === undefined || value === null) return;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  // A pipe gets every character; a terminal none that would steer it.
  const shown = terminal.isTty ? safe(text) : text;
  terminal.out(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** What a run waits for and what the person can do about it. */
function tellApproval(terminal: Terminal, runId: string, approvals: readonly Approval[]): void {
  terminal.err(`The run waits for your approval of this call:\n${approvals.map(askedFor).join('\n')}\n`);
  terminal.err(
    `Approve it with "pml runs approve ${runId}", then resume it with "pml runs resume ${runId}".\n`,
  );
}

function tellError(terminal: Terminal, error: CodeError, source: Source | null): void {
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

/** Lines of text of a program or a server, none of which can steer the terminal. */
function safe(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The line of the source with a caret under the place; empty if the source lacks that line. */
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

/** A tab would be as wide as the terminal likes. */
function shown(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}

/** The call as it would be made, and what became of the question. */
export function askedFor(approval: ShownApproval): string {
  const { node, reason, state, settledBy, isExact, program, changes = [] } = approval;
  const answer = state === 'pending' ? 'pending' : `${state} by ${settledBy ?? 'somebody'}`;
  const args = JSON.stringify(approval.arguments, null, 2).split('\n');
  return [
    `${node}  (${answer}; ${reason})`,
    ...args,
    ...Object.entries(program ?? {}).flatMap(([kind, text]) => [`${kind}:`, ...text.split('\n')]),
    ...changes.flatMap(changeLines),
    ...(isExact === false ? ['Not all arguments are shown here, so the call can only be rejected.'] : []),
  ]
    .map((line) => `  ${printable(line)}`)
    .join('\n');
}

/** One field as it was accepted and as it is now, in full. */
export function changeLines({ field, before, after }: DefinitionChange): string[] {
  return [`its ${field} was accepted as:`, ...linesOf(before), `its ${field} is now:`, ...linesOf(after)];
}

function linesOf(value: unknown): string[] {
  return value === undefined ? ['(missing)'] : JSON.stringify(value, null, 2).split('\n');
}

/** Tells what a workflow gave: values on stdout, all else on stderr. Anything but success fails the command. */
export function tellWorkflow(
  { terminal, fail }: CommandContext,
  result: WorkflowResult,
  options: { readonly json?: boolean },
  /** Only what no other task takes up is told; all of it where the plan is not known. */
  plan: Plan | null = null,
): void {
  const { status, runId, approvals, error, next } = result;
  if (status !== 'success') fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(workflowToWire(result))}\n`);
    return;
  }
  const results = result.results as Readonly<Record<string, ToldState>>;
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
  const used = new Set(plan?.tasks.flatMap(({ dependsOn }) => dependsOn));
  const last = Object.entries(results).filter(([id, state]) => !used.has(id) && state.result !== undefined);
  const values = last.map(([id, state]) => [id, state.result]);
  tellValue(terminal, values.length === 1 ? last[0]?.[1].result : Object.fromEntries(values));
}
