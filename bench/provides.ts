/**
 * How common `provides` edges are, and what they cost. The serving code learns the same runs twice: as they are, and
 * without the data that such edges come from (program, arguments and results).
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyTraces, type TraceFacts } from '../src/core/graph/apply-trace.ts';
import { TypedGraph } from '../src/core/graph/typed-graph.ts';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { prepareProgram } from '../src/core/structure/emit/prepare-program.ts';
import type { ExecutionTrace } from '../src/core/vocabulary/execution-trace.ts';
import { toolId } from '../src/core/vocabulary/ids.ts';
import type { TraceEvent } from '../src/core/vocabulary/trace-event.ts';
import { createProgramCache } from '../src/engine/code/program.ts';
import { openLiveGraph } from '../src/engine/graph/live-graph.ts';
import { traceFacts } from '../src/engine/graph/trace-facts.ts';
import { createEventLog } from '../src/engine/traces/event-log.ts';
import { createMemoryStore } from '../test/memory/store.ts';
import { sampleTrace } from '../test/support/samples.ts';
import type { BenchReport, BenchRow } from './run.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = 150;
const RUNS_OF_EACH = 4;
const CALLS = 8;
const TOOLS = 300;
/** Number of values in a result, one of which is passed on. */
const VALUES = 10;
const ROUNDS = 7;
const KINDS = ['without', 'with'] as const;
type Kind = (typeof KINDS)[number];
const LABELS = {
  read: 'facts read from traces',
  apply: 'facts applied to the graph',
  sync: 'graph rebuilt from a store in memory, all of it',
};
type Part = keyof typeof LABELS;
const PARTS = Object.keys(LABELS) as Part[];
const CLOCK = { now: () => new Date(), monotonic: () => performance.now() };

export async function bench(): Promise<BenchReport> {
  return { name: 'provides', rows: [...shares(), ...(await sync(createRandom(1)))] };
}

/** Share of programs in which a step uses a value of another, among those with two or more steps. */
function shares(): BenchRow[] {
  const examples = globSync('examples/*.ts', { cwd: ROOT, exclude: ['examples/*.d.ts'] }).map(read);
  const corpus = globSync('test/fixtures/structure-corpus/*.txt', { cwd: ROOT })
    .map(read)
    .flatMap((text) => text.split(/^=+\n/m))
    .map((text) => text.split(/^---\n/m)[0]!.replace(/^#.*/, ''));
  return [shareOf('the shipped examples', examples), shareOf('the structure corpus', corpus)];
}

function shareOf(what: string, programs: readonly string[]): BenchRow {
  const structures = programs.map((program) => {
    const prepared = prepareProgram(program);
    return prepared.ok ? prepared.value.structure : { nodes: [], edges: [] };
  });
  const able = structures.filter(
    ({ nodes }) => nodes.filter(({ type }) => type === 'task' || type === 'operation').length > 1,
  );
  const having = able.filter(({ edges }) => edges.some(({ type }) => type === 'provides'));
  return {
    label: `programs with provides, of ${able.length} in ${what}`,
    value: (100 * having.length) / able.length,
    unit: '%',
  };
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

async function sync(random: Random): Promise<BenchRow[]> {
  const programs = Array.from({ length: PROGRAMS }, () =>
    Array.from({ length: CALLS }, () => `tool_${random.int(TOOLS)}`),
  );
  const traces = Array.from({ length: RUNS_OF_EACH }, () => programs.map((tools) => runOf(tools, random)));
  const kinds = { without: traces.flat().map(withoutValues), with: traces.flat() };
  const empty = (): Record<Kind, number[]> => ({ without: [], with: [] });
  const times: Record<Part, Record<Kind, number[]>> = { read: empty(), apply: empty(), sync: empty() };
  const graphs = new Map<Kind, TypedGraph>();
  // Interleaved, so that noise of the machine affects both.
  for (let round = -1; round < ROUNDS; round++) {
    for (const kind of KINDS) {
      const { graph, ...took } = await learn(kinds[kind]);
      graphs.set(kind, graph);
      if (round < 0) continue;
      for (const part of PARTS) times[part][kind].push(took[part]);
    }
  }
  const what = `${traces.flat().length} runs of ${CALLS} calls`;
  return [
    ...KINDS.map((kind) => ({
      label: `graph of ${what}, ${kind} provides`,
      value: graphs.get(kind)!.size.edges,
      unit: 'edges',
    })),
    ...PARTS.flatMap((part) =>
      KINDS.map((kind) => ({
        label: `${LABELS[part]}, ${kind} provides`,
        value: median(times[part][kind]),
        unit: 'ms',
      })),
    ),
  ];
}

async function learn(traces: readonly ExecutionTrace[]) {
  const programs = createProgramCache();
  let facts: readonly TraceFacts[] = [];
  const read = await time(() => {
    facts = traces.map((trace) => traceFacts(programs, trace));
  });
  const apply = await time(() => applyTraces(new TypedGraph(), facts));
  const store = createMemoryStore();
  for (const trace of traces) await store.traces.append(trace);
  const live = await openLiveGraph({
    ports: { store, events: createEventLog(CLOCK) },
    programs: createProgramCache(),
    templates: [],
  });
  const sync = await time(() => live.rebuild());
  return { graph: live.current(), read, apply, sync };
}

/** A chain: each call takes a value of the one before. */
function runOf(tools: readonly string[], random: Random): ExecutionTrace {
  const lines = tools.map((tool, i) => `const r${i} = await mcp.s.${tool}({ from: ${source(i)} });`);
  let taken: unknown = 'the start';
  const events = tools.flatMap((tool, i): TraceEvent[] => {
    const call = { traceId: `call-${i}`, parentTraceId: null, node: toolId('s', tool) };
    const items = Array.from({ length: VALUES }, () => ({ id: `value-${random.int(2 ** 31)}` }));
    const args = { from: taken };
    taken = items[0]!.id;
    return [
      { ...call, type: 'tool_start', ts: 2 * i, args },
      { ...call, type: 'tool_end', ts: 2 * i + 1, success: true, durationMs: 1, result: { items } },
    ];
  });
  return sampleTrace({ events, code: lines.join('\n'), taskResults: [], guest: null });
}

const source = (i: number) => (i === 0 ? 'args.start' : `r${i - 1}.items[0].id`);

function withoutValues(trace: ExecutionTrace): ExecutionTrace {
  const events = trace.events.map((event): TraceEvent => {
    const {
      args: _args,
      result: _result,
      ...rest
    } = event as TraceEvent & { args?: unknown; result?: unknown };
    return rest;
  });
  return { ...trace, code: null, events };
}

async function time(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
