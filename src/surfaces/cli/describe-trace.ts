import { kindOf } from '../../core/vocabulary/ids.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { WireTraceEvent } from '../../core/vocabulary/trace-event.ts';
import { type TreeRow, treeOf } from '../../engine/traces/select-traces.ts';
import type { Answer } from '../../operations/operation-client.ts';
import { columns } from './command.ts';

type Trace = Answer<'get_trace'>;

const DEFAULTS = {
  /** Levels that are indented; deeper calls use the last one. */
  depth: 30,
  /** Characters of an error or event to show. */
  shown: 100,
  /** Tools of a run in a list. */
  listedTools: 3,
};

/** One line for lists. */
export function traceLine(trace: Answer<'list_traces'>['traces'][number]): string {
  const { id, calls, success, executed_at: when, intent_text: intent } = trace;
  const told = `${calls} ${calls === 1 ? 'call' : 'calls'}, ${duration(trace.duration_ms)}`;
  const parts = [id, when, told, toolsIn(trace.executed_path), intent ?? ''].filter((part) => part !== '');
  return printable(`${mark(success)} ${parts.join('  ')}`);
}

/** The first tools of a run, each once. */
function toolsIn(path: readonly string[]): string {
  const tools = [...new Set(path.filter((node) => kindOf(node) === 'tool'))];
  const more = tools.length - DEFAULTS.listedTools;
  return `${tools.slice(0, DEFAULTS.listedTools).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What ran, its calls as a tree with start and duration, and the program. */
export function describeTrace(trace: Trace, nameOf: (node: string) => string): string {
  // The tree of calls already shows which tasks completed.
  const events = trace.episodes.filter(({ event_type: type }) => type !== 'task_complete');
  const { success } = trace;
  const error = success ? null : failure(trace.error_type, trace.error_message);
  const tree = treeOf(trace.events as readonly WireTraceEvent[]);
  const head = [
    ['trace', trace.id],
    ['run', trace.run_id],
    ['session', trace.session_id],
    ['started by', trace.origin === 'agent' ? null : `PML itself (${trace.origin})`],
    ['when', trace.executed_at],
    ['intent', trace.intent_text],
    ['error', error],
  ].flatMap(([name, value]) => (value ? [[`  ${name}`, printable(value)]] : []));
  return [
    `${mark(success)} ${success ? 'succeeded' : 'failed'} after ${duration(trace.duration_ms)}\n`,
    columns(head),
    ...(tree.length === 0 ? [] : [`\nCalls\n`, columns(rows(tree, nameOf))]),
    ...(events.length === 0 ? [] : ['\nEvents\n', columns(events.map(eventRow))]),
    ...(trace.code === null ? [] : ['\nProgram\n', numbered(trace.code)]),
    '\nArguments and results: --json\n',
  ].join('');
}

function eventRow({ event_type: type, task_id: task, at, data }: Trace['episodes'][number]): string[] {
  const told = shortened(printable(JSON.stringify(data)));
  return [`  ${at}`, printable(type), printable(task ?? ''), told];
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
      : 'unfinished';
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
