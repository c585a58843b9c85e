import { createRandom, type Random } from '../../src/core/numeric/random.ts';
import { traceToWire } from '../../src/core/vocabulary/execution-trace.ts';
import { sampleTrace } from '../support/samples.ts';
import { type FuzzTarget, startTarget } from './fuzz-target.ts';
import { hostileFrame } from './hostile-frames.ts';
import {
  type Address,
  apiRequest,
  bridgeRequest,
  definitionRequest,
  loginRequest,
  mcpRequest,
  programRequest,
  rawRequest,
  resultRequest,
} from './hostile-requests.ts';
import { damaged, hostileJson, hostileObject, hostileValue, oneOf } from './hostile-values.ts';

const DEFAULTS = {
  /** Cases after which the gateway is looked at. */
  batch: 100,
  /** Under way at once. */
  atOnce: 6,
  /** Milliseconds of its main thread. */
  pulseMs: 1_000,
  /** Megabytes above what it had after its first batch. */
  memoryMb: 400,
  /** After so many it stops. */
  problems: 10,
  /** Characters of a case that are shown. */
  shown: 600,
};

export interface FuzzOptions {
  readonly seed: number;
  readonly bytes: number;
  readonly milliseconds?: number;
  /** The first case, and how many: to repeat some. */
  readonly from?: number;
  readonly cases?: number;
  readonly onBatch?: (report: FuzzReport) => void;
}

export interface FuzzReport {
  readonly seed: number;
  cases: number;
  bytes: number;
  /** Answers by entrance and status. */
  readonly answers: Record<string, Record<string, number>>;
  longestPulseMs: number;
  /** Megabytes after the first batch, at the most, and in the end. */
  readonly memory: { first: number | null; most: number | null; last: number | null };
  /** Each with how to repeat it. */
  readonly problems: string[];
}

type Way = 'request' | 'socket' | 'stdio' | 'traces' | 'config';
type Make = (random: Random, address: Address) => Buffer;

const ENTRANCES: readonly (readonly [name: string, share: number, way: Way, make: Make])[] = [
  ['api', 28, 'request', apiRequest],
  ['mcp', 20, 'request', mcpRequest],
  ['socket', 16, 'socket', rawRequest],
  ['stdio', 12, 'stdio', hostileFrame],
  ['program', 10, 'request', programRequest],
  ['tool result', 8, 'request', resultRequest],
  ['tool definition', 3, 'request', definitionRequest],
  ['login', 1, 'request', loginRequest],
  ['bridge', 1, 'request', bridgeRequest],
  ['trace import', 1, 'traces', hostileTraces],
  ['config', 1, 'config', hostileConfig],
];
/** Each entrance as often as its share says. */
const TICKETS = ENTRANCES.flatMap((entrance) => Array.from({ length: entrance[1] }, () => entrance));

/** Lines of which some are traces, but for one field. */
function hostileTraces(random: Random): Buffer {
  const id = () =>
    `0192f000-0000-7000-8000-${random
      .int(2 ** 32)
      .toString(16)
      .padStart(12, '0')}`;
  const line = () => {
    if (random.int(3) === 0) return hostileJson(random);
    const trace: object = traceToWire(sampleTrace({ id: id(), runId: id() }));
    return JSON.stringify({ ...trace, [oneOf(random, Object.keys(trace))]: hostileValue(random) });
  };
  return Buffer.from(Array.from({ length: 1 + random.int(20) }, line).join('\n'));
}

function hostileConfig(random: Random): Buffer {
  const text = () =>
    oneOf(random, [
      () => hostileJson(random),
      () => JSON.stringify({ mcpServers: hostileObject(random), pml: hostileObject(random) }),
      () =>
        JSON.stringify({
          mcpServers: {},
          pml: { permissions: hostileObject(random), sandbox: hostileObject(random) },
        }),
      () => JSON.stringify({ mcpServers: {}, pml: { permissions: { ask: [`a:${'*a'.repeat(60)}`] } } }),
    ])();
  return random.int(3) === 0 ? damaged(random, Buffer.from(text())) : Buffer.from(text());
}

/** Case `number` of `seed`, whatever came before it. */
function makeCase(seed: number, number: number, address: Address) {
  const random = createRandom(createRandom(seed).int(2 ** 20) * 2 ** 32 + number);
  const [name, , way, make] = oneOf(random, TICKETS);
  return { name, way, bytes: make(random, address) };
}

/** Random and hostile input at every entrance of a real gateway, which has to stay well, then and after a restart. */
export async function fuzz(dir: string, options: FuzzOptions): Promise<FuzzReport> {
  const {
    seed,
    bytes,
    milliseconds = Number.POSITIVE_INFINITY,
    from = 0,
    cases = Number.POSITIVE_INFINITY,
  } = options;
  const report: FuzzReport = {
    seed,
    cases: 0,
    bytes: 0,
    answers: {},
    longestPulseMs: 0,
    memory: { first: null, most: null, last: null },
    problems: [],
  };
  const started = performance.now();
  const target = await startTarget(dir);
  const isOver = () =>
    report.problems.length >= DEFAULTS.problems ||
    report.cases >= cases ||
    report.bytes >= bytes ||
    performance.now() - started >= milliseconds;
  try {
    while (!isOver()) {
      const first = from + report.cases;
      await runBatch(target, report, first, Math.min(DEFAULTS.batch, cases - report.cases), bytes);
      await examine(target, report, first);
      options.onBatch?.(report);
    }
  } finally {
    report.problems.push(...(await target.end()));
  }
  if (report.problems.length > 0) return report;
  // What was stored must not be in the way of the next start.
  const again = await startTarget(dir);
  report.problems.push(
    ...[...(await again.examine()), ...(await again.end())].map((problem) => `after a restart: ${problem}`),
  );
  return report;
}

async function runBatch(
  target: FuzzTarget,
  report: FuzzReport,
  first: number,
  most: number,
  bytes: number,
): Promise<void> {
  let next = first;
  const work = async () => {
    while (next < first + most && report.bytes < bytes) {
      const number = next++;
      const one = makeCase(report.seed, number, target.address);
      report.cases += 1;
      report.bytes += one.bytes.length;
      const { answer, problem } = await tryOne(target, one.way, one.bytes);
      const answers = report.answers[one.name] ?? {};
      report.answers[one.name] = { ...answers, [answer]: (answers[answer] ?? 0) + 1 };
      if (problem !== null) {
        const shown = JSON.stringify(one.bytes.toString('latin1').replace(target.address.token, 'TOKEN'));
        report.problems.push(
          `${one.name}: ${problem}\n  repeat: --seed ${report.seed} --from ${number} --cases 1\n  case: ${shown.slice(0, DEFAULTS.shown)}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: DEFAULTS.atOnce }, work));
}

async function tryOne(
  target: FuzzTarget,
  way: Way,
  bytes: Buffer,
): Promise<{ answer: string; problem: string | null }> {
  try {
    if (way === 'stdio') await target.overStdio(bytes);
    if (way === 'config') await target.asConfig(bytes.toString());
    if (way === 'traces') await target.asTraces(bytes);
    if (way !== 'request' && way !== 'socket') return { answer: 'taken', problem: null };
    const { status, text } = await target.overHttp(bytes, way === 'request');
    const isFailure = status === 500 || (status === null && way === 'request');
    return {
      answer: String(status ?? 'none'),
      problem: isFailure ? `answered ${status ?? 'nothing'}: ${text}` : null,
    };
  } catch (error) {
    return { answer: 'failed', problem: (error as Error).message };
  }
}

async function examine(target: FuzzTarget, report: FuzzReport, first: number): Promise<void> {
  const problems = await target.examine();
  report.longestPulseMs = target.longestPulse();
  if (report.longestPulseMs > DEFAULTS.pulseMs) problems.push(`/healthz took ${report.longestPulseMs} ms`);
  const { memory } = report;
  memory.last = await target.memory();
  memory.first ??= memory.last;
  memory.most = memory.last === null ? null : Math.max(memory.most ?? 0, memory.last);
  if (memory.last !== null && memory.last > memory.first! + DEFAULTS.memoryMb) {
    problems.push(`it holds ${memory.last} MB, after ${memory.first} MB in the beginning`);
  }
  const how = `repeat: --seed ${report.seed} --from ${first} --cases ${DEFAULTS.batch}`;
  report.problems.push(...problems.map((problem) => `${problem}\n  ${how}`));
}
