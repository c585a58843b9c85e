import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { EpisodicEvent } from '../../engine/ports.ts';
import type { TreeRow } from '../../engine/traces/select-traces.ts';
import { columns } from './command.ts';

const DEFAULTS = {
  /** Levels that are drawn; deeper calls stand on the last of them. */
  depth: 30,
  /** Characters of an error or an event that are shown on its line. */
  shown: 100,
};

/** One line for lists. */
export function traceLine(trace: ExecutionTrace): string {
  const calls = trace.toolInvocations.length;
  const told = `${calls} ${calls === 1 ? 'call' : 'calls'}, ${duration(trace.durationMs)}`;
  const when = trace.executedAt.toISOString();
  return printable(
    `${mark(trace.success)} ${trace.id}  ${when}  ${told}  ${trace.intentText ?? ''}`,
  ).trimEnd();
}

/** What was run, its calls as a tree with when and how long, and the program. */
export function describeTrace(
  trace: ExecutionTrace,
  tree: readonly TreeRow[],
  nameOf: (node: string) => string,
  episodes: readonly EpisodicEvent[],
): string {
  // The calls tell which tasks were completed.
  const events = episodes.filter(({ eventType }) => eventType !== 'task_complete');
  const { success, durationMs, errorType, errorMessage } = trace;
  const error = success ? null : failure(errorType, errorMessage);
  const head = [
    ['trace', trace.id],
    ['run', trace.runId],
    ['session', trace.sessionId],
    ['started by', trace.origin === 'agent' ? null : `PML itself (${trace.origin})`],
    ['when', trace.executedAt.toISOString()],
    ['intent', trace.intentText],
    ['error', error],
  ].flatMap(([name, value]) => (value ? [[`  ${name}`, printable(value)]] : []));
  return [
    `${mark(success)} ${success ? 'succeeded' : 'failed'} after ${duration(durationMs)}\n`,
    columns(head),
    ...(tree.length === 0 ? [] : [`\nCalls\n`, columns(rows(tree, nameOf))]),
    ...(events.length === 0 ? [] : ['\nEvents\n', columns(events.map(eventRow))]),
    ...(trace.code === null ? [] : ['\nProgram\n', numbered(trace.code)]),
    '\nArguments and results: --json\n',
  ].join('');
}

function eventRow({ eventType, taskId, timestamp, data }: EpisodicEvent): string[] {
  const told = shortened(printable(JSON.stringify(data)));
  return [`  ${timestamp.toISOString()}`, printable(eventType), printable(taskId ?? ''), told];
}

function rows(tree: readonly TreeRow[], nameOf: (node: string) => string): string[][] {
  const guides: string[] = [];
  return tree.map(({ span, depth, isLast }) => {
    const { start, end, startTs, endTs } = span;
    const level = Math.min(depth, DEFAULTS.depth);
    guides.length = level;
    const branch = level === 0 ? '' : isLast ? '└─ ' : '├─ ';
    const indent = `  ${guides.slice(1).join('')}${branch}`;
    guides.push(isLast ? '   ' : '│  ');
    const outcome = end
      ? end.success
        ? ''
        : failure(end.errorType ?? null, end.error ?? null)
      : 'did not end';
    return [
      `${indent}${mark(end?.success ?? false)} ${printable(nameOf(start.node))}`,
      `at ${duration(startTs)}`,
      duration(endTs - startTs),
      shortened(printable(outcome.replace(/\s+/g, ' '))),
    ];
  });
}

function failure(type: string | null, message: string | null): string {
  return [type, message].filter((part) => part !== null && part !== '').join(': ') || 'failed';
}

function shortened(text: string): string {
  return text.length <= DEFAULTS.shown ? text : `${text.slice(0, DEFAULTS.shown - 1)}…`;
}

function numbered(code: string): string {
  const lines = code.split('\n');
  const width = String(lines.length).length;
  return lines.map((line, i) => `  ${String(i + 1).padStart(width)} | ${printable(line)}\n`).join('');
}

function mark(success: boolean): string {
  return success ? '✓' : '✗';
}

/** `0.42 ms`, `12.3 ms`, `250 ms`, `3.2 s` */
function duration(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : 2)} ms`;
}
