import { percentile } from '../support/percentile.ts';
import type { Contender } from './contender.ts';
import type { Cell, Measured } from './tell-comparison.ts';

export interface Amounts {
  readonly calls: number;
  readonly warmUp: number;
  readonly inFlight: number;
  readonly callsInFlight: number;
  readonly programs: number;
  readonly callsFromCode: number;
  /** Milliseconds for one call, and for one figure of many calls. */
  readonly callMs: number;
  readonly figureMs: number;
}

/**
 * The same work for all contenders in turn. One that fails or does not answer in time gets a cell that says so, and is
 * left out of the rest of that figure; the others go on.
 */
export async function measure(
  contenders: readonly Contender[],
  amounts: Amounts,
  memoryOf: (pid: number) => number,
  say: (line: string) => void,
): Promise<Measured[]> {
  say('calls in turn …');
  const calls = await inTurn(contenders, amounts.warmUp, amounts.calls, amounts.callMs, ({ call }) => call);
  say('programs in turn …');
  const programs = await inTurn(contenders, 3, amounts.programs, amounts.callMs, ({ code }) => {
    return code && (() => code.callTimes(0));
  });
  const measured: Measured[] = [];
  for (const [i, contender] of contenders.entries()) {
    say(`${contender.name}: many at once, and from code …`);
    const { name, version, form, servers, startMs, listBytes, code } = contender;
    const { inFlight, callsInFlight, callsFromCode, figureMs } = amounts;
    const perSecond = await figure(figureMs, (late) => throughput(contender, inFlight, callsInFlight, late));
    const fromCode =
      code && (await figure(figureMs, () => timed(() => checkedCalls(contender, callsFromCode))));
    measured.push({
      ...{ name, version, form, servers, startMs, listBytes },
      p50: cellOf(calls[i]!, 0.5),
      p99: cellOf(calls[i]!, 0.99),
      perSecond,
      megabytes: contender.pid === 0 ? undefined : memoryOf(contender.pid) / 2 ** 20,
      program: code && cellOf(programs[i]!, 0.5),
      fromCode,
    });
  }
  return measured;
}

/** Milliseconds of each round, or why there are none. */
type Rounds = number[] | string;

async function inTurn(
  contenders: readonly Contender[],
  warmUp: number,
  rounds: number,
  limitMs: number,
  workOf: (contender: Contender) => (() => Promise<unknown>) | undefined,
): Promise<readonly Rounds[]> {
  const took: Rounds[] = contenders.map(() => []);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const work = workOf(contender);
      const sofar = took[i]!;
      if (!work || typeof sofar === 'string') continue;
      const one = await figure(limitMs, () => timed(work));
      if (typeof one === 'string') took[i] = one;
      else if (round >= 0) sofar.push(one);
    }
  }
  return took;
}

function cellOf(rounds: Rounds, share: number): Cell {
  return typeof rounds === 'string' ? rounds : percentile(rounds, share);
}

/** What `work` measured, or in a word why it did not; told that it is late, it begins nothing more. */
async function figure(
  limitMs: number,
  work: (late: AbortSignal) => Promise<number>,
): Promise<number | string> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      over.abort();
      resolve(TIMED_OUT);
    }, limitMs);
  });
  try {
    return await Promise.race([work(over.signal), late]);
  } catch (error) {
    return /timed? ?out/i.test(String(error)) ? TIMED_OUT : 'failed';
  } finally {
    clearTimeout(timer);
  }
}

const TIMED_OUT = 'timed out';

async function checkedCalls({ name, code }: Contender, times: number): Promise<void> {
  const made = await code!.callTimes(times);
  if (made !== times) throw new Error(`${name} made ${made} calls of ${times}`);
}

async function throughput(
  { call }: Contender,
  inFlight: number,
  calls: number,
  late: AbortSignal,
): Promise<number> {
  let left = calls;
  const took = await timed(() =>
    Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (!late.aborted && left-- > 0) await call();
      }),
    ),
  );
  return calls / (took / 1_000);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
