import { printable } from '../../core/vocabulary/text.ts';
import type { CodeRun } from '../../engine/gateway.ts';
import { codeRunToWire, consoleText } from '../../engine/gateway-wire.ts';
import type { Approval, CodeError } from '../../engine/ports.ts';
import { askedFor } from './asked-for.ts';
import { codeFrame } from './code-frame.ts';
import type { CommandContext, Terminal } from './command.ts';

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
export function tellApproval(terminal: Terminal, runId: string, approvals: readonly Approval[]): void {
  terminal.err(`The run waits for your approval of:\n${approvals.map(askedFor).join('\n')}\n`);
  terminal.err(`Approve it with "pml runs approve ${runId}", then go on with "pml runs resume ${runId}".\n`);
}

export function tellError(terminal: Terminal, error: CodeError, source: Source | null): void {
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
