import { createHash } from 'node:crypto';
import { normalise } from '../../src/core/numeric/matrices.ts';
import { createRandom, type Random } from '../../src/core/numeric/random.ts';
import { deriveTrace } from '../../src/core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import { type NodeId, splitToolId, type ToolId } from '../../src/core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../src/core/vocabulary/tool-definition.ts';
import type { TraceEvent } from '../../src/core/vocabulary/trace-event.ts';
import { defineTool } from '../../src/engine/catalogue/refresh-catalogue.ts';

const DEFAULTS = {
  dimension: 384,
  toolsPerServer: 20,
  /** Number of kinds of work per tool, and the least number. */
  kindsPerTool: 0.5,
  leastKinds: 50,
  /** Number of steps of a kind of work. */
  steps: { least: 2, most: 5 },
  /** Probabilities that a step is left out, that an unrelated tool is added, that a run fails. */
  noise: { left: 0.1, strange: 0.1, failed: 0.06 },
  /** Distance of an intent's vector from that of its kind: cosine 1 / sqrt(1 + far^2). */
  far: 0.6,
  /** Number of noise vectors, and number of wordings of a step. */
  pool: 4_096,
  wordings: 8,
  sessions: 200,
  /** Period over which the runs are spread. */
  days: 365,
};

const VERBS = (
  'list read create update delete search send fetch merge rename archive export import assign ' +
  'close open tag move copy sync review publish schedule cancel approve count compare translate summarise convert'
).split(' ');
const NOUNS = (
  'invoice ticket file folder branch commit message channel event contact order product page ' +
  'record table row report dashboard alert job image video document note task project team user key secret build ' +
  'release log metric cluster bucket queue topic form payment refund review'
).split(' ');

const HASHING = {
  randomUuid: () => '',
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};

interface Step {
  readonly tool: ToolId;
  /** Indices of earlier steps that it depends on. */
  readonly after: readonly number[];
}

interface Kind {
  readonly steps: readonly Step[];
  readonly vector: Float32Array;
}

/** A run as it would be stored, and the vectors of its intent's clauses. */
export interface MadeUpRun {
  readonly trace: ExecutionTrace;
  readonly clauses: readonly Float32Array[];
}

export interface MadeUpTeam {
  readonly servers: readonly string[];
  readonly tools: readonly ToolDefinition[];
  readonly vectorOf: (tool: ToolId) => Float32Array;
  /** The nth run of `of`; deterministic. */
  run(nth: number, of: number): MadeUpRun;
  /** A query in words that no run used exactly. */
  question(nth: number): string;
}

/**
 * A made-up team at work, deterministic for a seed. Servers have 20 tools; the popularity of tools and kinds of work
 * follows Zipf's law (the r-th has 1/r); a kind of work is a DAG of 2 to 5 tools. A run belongs to a kind, with steps
 * left out and unrelated ones added, and sometimes fails; a step's result becomes an argument of its dependants.
 *
 * Vectors are not those of the texts, because embedding a million texts is not measured. Each kind and each tool has a
 * random unit vector, and a run's vectors are near those of its kind and its tools.
 */
export function madeUpTeam({
  tools: count,
  model,
  seed = 1,
  until = new Date(),
}: {
  readonly tools: number;
  readonly model: string;
  readonly seed?: number;
  readonly until?: Date;
}): MadeUpTeam {
  const random = createRandom(seed);
  const pool = Array.from({ length: DEFAULTS.pool }, () => unit(random));
  const tools = Array.from({ length: count }, (_, i) => makeTool(i, random));
  const popular = zipf(count);
  const vectors = new Map(tools.map(({ id }, i) => [id, pool[i % pool.length]!]));
  const kinds = Array.from(
    { length: Math.max(DEFAULTS.leastKinds, Math.round(count * DEFAULTS.kindsPerTool)) },
    (_, i): Kind => ({
      steps: makeSteps(() => tools[popular(random)]!.id, random),
      vector: pool[(i * 7) % pool.length]!,
    }),
  );
  const popularKind = zipf(kinds.length);
  const wordings = new Map<string, Float32Array>();

  function wordingOf(tool: ToolId, variant: number): Float32Array {
    const key = `${variant} ${tool}`;
    const known = wordings.get(key);
    if (known) return known;
    const made = near(vectors.get(tool)!, pool[(variant * 131 + wordings.size) % pool.length]!);
    wordings.set(key, made);
    return made;
  }

  return {
    servers: [...new Set(tools.map(({ server }) => server))],
    tools,
    vectorOf: (tool) => vectors.get(tool)!,
    run(nth, of) {
      const own = createRandom(seed * 2 ** 32 + nth + 1);
      const kind = kinds[popularKind(own)]!;
      const steps = withNoise(kind.steps, () => tools[popular(own)]!.id, own);
      const failed = own.next() < DEFAULTS.noise.failed;
      const said = steps.map(({ tool }) => clauseOf(tool));
      const events = eventsOf(steps, failed, nth, own);
      const { executedPath, toolInvocations } = deriveTrace(events);
      const id = idOf('trace', nth);
      return {
        clauses: steps.map(({ tool }) => wordingOf(tool, own.int(DEFAULTS.wordings))),
        trace: {
          id,
          runId: idOf('run', nth),
          sessionId: `session-${own.int(DEFAULTS.sessions)}`,
          origin: 'agent',
          owner: null,
          visibility: 'shared',
          capabilityId: null,
          intentText: `${said.join(', then ')} for case ${own.int(20)}`,
          intentEmbedding: near(kind.vector, pool[own.int(pool.length)]!),
          embeddingModel: model,
          executedAt: new Date(until.getTime() - (1 - (nth + 1) / of) * DEFAULTS.days * 86_400_000),
          success: !failed,
          durationMs: events.at(-1)!.ts,
          errorMessage: failed ? 'no such record' : null,
          errorType: failed ? 'NOT_FOUND' : null,
          executedPath,
          toolInvocations,
          decisions: [],
          taskResults: steps.map(({ tool, after }, i) => ({
            id: `t${i}`,
            node: tool,
            depends_on: after.map((place) => `t${place}`),
            status: failed && i === steps.length - 1 ? 'error' : 'success',
          })),
          priority: 0.5,
          events,
          code: null,
          guest: null,
        },
      };
    },
    question(nth) {
      const own = createRandom(seed * 2 ** 32 - nth - 1);
      const { steps } = kinds[popularKind(own)]!;
      return `${steps.map(({ tool }) => clauseOf(tool)).join(' and ')}, question ${nth}`;
    },
  };
}

function makeTool(nth: number, random: Random): ToolDefinition {
  const [verb, noun] = [VERBS[random.int(VERBS.length)]!, NOUNS[random.int(NOUNS.length)]!];
  const server = `server${Math.floor(nth / DEFAULTS.toolsPerServer)}`;
  const name = `${verb}_${noun}_${nth}`;
  const inputSchema = {
    type: 'object',
    properties: { id: { type: 'string' }, limit: { type: 'number' } },
  };
  const about = `${NOUNS[random.int(NOUNS.length)]} and ${NOUNS[random.int(NOUNS.length)]}`;
  const description = `Lets you ${verb} a ${noun} of a ${about}.`;
  return defineTool({ name: server }, { name, description, inputSchema }, HASHING);
}

function makeSteps(draw: () => ToolId, random: Random): Step[] {
  const { least, most } = DEFAULTS.steps;
  const length = least + random.int(most - least + 1);
  return Array.from({ length }, (_, i) => ({
    tool: draw(),
    after: i === 0 ? [] : [...new Set([random.int(i), ...(random.next() < 0.3 ? [random.int(i)] : [])])],
  }));
}

function withNoise(steps: readonly Step[], draw: () => ToolId, random: Random): Step[] {
  const { left, strange } = DEFAULTS.noise;
  const kept = steps.map((_, i) => i === 0 || random.next() >= left);
  const place = new Map([...steps.keys()].filter((i) => kept[i]).map((i, at) => [i, at]));
  const rest = steps.flatMap(({ tool, after }, i) =>
    kept[i] ? [{ tool, after: after.flatMap((earlier) => place.get(earlier) ?? []) }] : [],
  );
  return random.next() < strange ? [...rest, { tool: draw(), after: [] }] : rest;
}

/** Sequential calls. A step gets the results of the steps before it as arguments. */
function eventsOf(steps: readonly Step[], failed: boolean, nth: number, random: Random): TraceEvent[] {
  let ts = 0;
  return steps.flatMap(({ tool, after }, i): TraceEvent[] => {
    const base = { traceId: `c${i}`, parentTraceId: null, node: tool as NodeId };
    const start = ts + 1;
    const durationMs = 5 + random.int(400);
    ts = start + durationMs;
    const given = Object.fromEntries(after.map((place) => [`id${place}`, resultOf(nth, place)]));
    const success = !(failed && i === steps.length - 1);
    return [
      { ...base, type: 'tool_start', ts: start, args: { ...given, limit: random.int(50) } },
      success
        ? { ...base, type: 'tool_end', ts, success, durationMs, result: { id: resultOf(nth, i), ok: true } }
        : {
            ...base,
            type: 'tool_end',
            ts,
            success,
            durationMs,
            error: 'no such record',
            errorType: 'NOT_FOUND',
          },
    ];
  });
}

function resultOf(nth: number, place: number): string {
  return `record-${nth}-${place}`;
}

function clauseOf(tool: ToolId): string {
  const [verb, noun] = splitToolId(tool).tool.split('_');
  return `${verb} the ${noun}`;
}

/** In the form and distribution of a UUID. */
function idOf(what: string, nth: number): string {
  const hex = createHash('md5').update(`${what} ${nth}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Draws indices 0 … n - 1, the r-th with a probability proportional to 1/r. */
function zipf(n: number): (random: Random) => number {
  const sums = new Float64Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    sum += 1 / (i + 1);
    sums[i] = sum;
  }
  return (random) => {
    const wanted = random.next() * sum;
    let [low, high] = [0, n - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! <= wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

function unit(random: Random): Float32Array {
  return normalise(Float32Array.from({ length: DEFAULTS.dimension }, () => random.normal()));
}

function near(vector: Float32Array, noise: Float32Array): Float32Array {
  const sum = new Float32Array(vector.length);
  for (let i = 0; i < sum.length; i++) sum[i] = vector[i]! + DEFAULTS.far * noise[i]!;
  return normalise(sum);
}
