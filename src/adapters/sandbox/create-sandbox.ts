import { availableParallelism } from 'node:os';
import type {
  GuestFailure,
  GuestHost,
  GuestOutcome,
  GuestProgram,
  Logger,
  Sandbox,
  SandboxOptions,
} from '../../engine/ports.ts';
import { type ChildExit, GuestChild } from './guest-child.ts';
import { HostedRun } from './hosted-run.ts';

const DEFAULTS = {
  /** Programs mostly wait for tools, so there may be more of them than cores. */
  maxRunning: Math.min(8, Math.max(4, availableParallelism())),
  spares: 1,
  idleMs: 60_000,
  maxRuns: 1_000,
  /** Further children tried for a run whose child turns out to be dead. */
  attemptsMore: 2,
  /** Consecutive failed starts before waiting callers get the error. */
  startAttempts: 3,
  /** Milliseconds after which a program's priority is lowered in favour of newer ones. */
  longRunMs: 1_000,
};

export interface SandboxParts {
  readonly logger?: Logger;
  readonly maxRunning?: number;
  readonly idleMs?: number;
  readonly longRunMs?: number;
}

/**
 * Programs run in isolates, isolates in processes without any permission, and the host watches these
 * processes.
 */
export function createSandbox({
  logger,
  maxRunning = DEFAULTS.maxRunning,
  idleMs = DEFAULTS.idleMs,
  longRunMs = DEFAULTS.longRunMs,
}: SandboxParts = {}): Sandbox {
  const { spares, maxRuns } = DEFAULTS;
  const pool = new ChildPool({
    maxRunning,
    spares,
    idleMs,
    maxRuns,
    longRunMs,
    onFailedStart: ({ how, lastWords }) =>
      logger?.log('error', 'A sandbox process did not start', { how, lastWords }),
  });
  const complain = (message: string, error: unknown) =>
    logger?.log('error', `Sandbox: ${message}`, {
      error: error instanceof Error ? error.stack : String(error),
    });
  const underWay = new Set<HostedRun>();

  async function attempt(
    program: GuestProgram,
    host: GuestHost,
    options: SandboxOptions,
    attemptsLeft: number,
  ): Promise<GuestOutcome> {
    const { signal, user } = options;
    const taken = await pool.take(signal, user);
    if (!taken.ok) return nothingRan(taken.failure);
    const run = new HostedRun(taken.child, host, options, complain);
    const cancel = () => run.cancel('The run was cancelled');
    underWay.add(run);
    signal?.addEventListener('abort', cancel);
    run.start(program);
    if (signal?.aborted) cancel();
    const { outcome, isClean, isUntouched } = await run.ended;
    signal?.removeEventListener('abort', cancel);
    underWay.delete(run);
    pool.giveBack(taken.child, isClean);
    if (!isUntouched || attemptsLeft === 0) return outcome;
    return attempt(program, host, options, attemptsLeft - 1);
  }

  return {
    run: (program, host, options) => attempt(program, host, options, DEFAULTS.attemptsMore),
    async close() {
      pool.close();
      for (const run of underWay) run.cancel('The sandbox was closed');
      await Promise.all([...underWay].map(({ ended }) => ended));
    },
  };
}

function nothingRan(error: GuestFailure): GuestOutcome {
  return { ok: false, error, console: [], truncated: false, cpuMs: 0 };
}

interface PoolOptions {
  /** Children that may run at once. */
  readonly maxRunning: number;
  /** Idle children kept ready besides the running ones, while programs come. */
  readonly spares: number;
  /** Milliseconds without a program after which all children are ended. */
  readonly idleMs: number;
  /** Runs after which a child is replaced. */
  readonly maxRuns: number;
  /** Milliseconds after which the priority of a program's child is lowered. */
  readonly longRunMs: number;
  readonly onFailedStart: (exit: ChildExit) => void;
}

type Taken =
  | { readonly ok: true; readonly child: GuestChild }
  | { readonly ok: false; readonly failure: GuestFailure };

const refusal = (kind: 'cancelled' | 'crashed', message: string): Taken => ({
  ok: false,
  failure: { kind, message },
});

const CLOSED = refusal('cancelled', 'The sandbox is closed');

/**
 * Children for the programs: one as long as they come one after the other, one more than needed once several came
 * together, and none without programs, because each takes the memory of a process. When all are busy, programs queue; the user with the fewest
 * running programs goes first. A user with none running may exceed the limit, up to twice `maxRunning` in
 * all.
 */
class ChildPool {
  readonly #options: PoolOptions;
  readonly #starting = new Set<GuestChild>();
  /** Longest idle first: it has had the most time to prepare. */
  readonly #idle: GuestChild[] = [];
  /** Per busy child: the user of its program, and the timer that lowers its priority. */
  readonly #running = new Map<GuestChild, { readonly user: string; readonly timer: NodeJS.Timeout }>();
  readonly #line: { readonly user: string; readonly settle: (taken: Taken) => void }[] = [];
  /** Consecutive. */
  #failedStarts = 0;
  /** Whether a program has come lately while another one was there: from then on one child is kept ready. */
  #isShared = false;
  /** Runs out when no program has come for a while. */
  #quiet: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  take(signal?: AbortSignal, user = ''): Promise<Taken> {
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve(CLOSED);
      const leave = () => {
        const place = this.#line.indexOf(waiting);
        if (place >= 0) this.#line.splice(place, 1);
        settle(refusal('cancelled', 'The run was cancelled'));
      };
      const settle = (taken: Taken) => {
        signal?.removeEventListener('abort', leave);
        resolve(taken);
      };
      const waiting = { user, settle };
      if (signal?.aborted) return leave();
      signal?.addEventListener('abort', leave);
      this.#line.push(waiting);
      this.#isShared ||= this.#running.size > 0 || this.#line.length > 1;
      this.#stayReady();
      this.fill();
      this.#advance();
    });
  }

  giveBack(child: GuestChild, isClean: boolean): void {
    clearTimeout(this.#running.get(child)?.timer);
    this.#running.delete(child);
    if (isClean && !this.#isClosed && !child.isSlow && ++child.runs < this.#options.maxRuns)
      this.#rest(child);
    else child.kill();
    this.fill();
    this.#advance();
  }

  /** Starts children until enough are idle. */
  fill(): void {
    if (this.#isClosed) return;
    const { maxRunning } = this.#options;
    const isResting = this.#running.size + this.#line.length === 0;
    const spares = this.#quiet && (this.#isShared || isResting) ? this.#options.spares : 0;
    const newcomers = new Set(
      this.#line.map(({ user }) => user).filter((user) => this.#underWay(user) === 0),
    );
    const free = Math.max(0, maxRunning - this.#running.size);
    const soon = Math.min(this.#line.length, Math.max(free, this.#isCrowded ? 0 : newcomers.size));
    while (this.#idle.length + this.#starting.size < soon + spares) this.#start();
    for (const child of this.#starting) child.keepHostAlive(this.#line.length > 0);
  }

  /** Running children are ended when their runs release them. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#quiet);
    for (const { settle } of this.#line.splice(0)) settle(CLOSED);
    for (const child of [...this.#starting, ...this.#idle]) child.kill();
  }

  #start(): void {
    const child = new GuestChild();
    this.#starting.add(child);
    const onExit = (exit: ChildExit) => {
      this.#starting.delete(child);
      if (this.#isClosed) return;
      this.#options.onFailedStart(exit);
      if (++this.#failedStarts < DEFAULTS.startAttempts) return this.#advance();
      // Waiting callers get the error instead of the same failing start again and again.
      this.#failedStarts = 0;
      const failed = refusal('crashed', `The sandbox cannot start: ${exit.lastWords || exit.how}`);
      for (const { settle } of this.#line.splice(0)) settle(failed);
    };
    const onMessage = () => {
      this.#starting.delete(child);
      this.#failedStarts = 0;
      this.#rest(child);
      this.#advance();
    };
    child.listener = { onMessage, onExit, onBreach: () => child.kill() };
  }

  #rest(child: GuestChild): void {
    this.#idle.push(child);
    child.keepHostAlive(false);
    const forget = () => {
      const place = this.#idle.indexOf(child);
      if (place >= 0) this.#idle.splice(place, 1);
      this.fill();
    };
    // An idle child must not send anything.
    child.listener = { onMessage: () => child.kill(), onBreach: () => child.kill(), onExit: forget };
  }

  #stayReady(): void {
    if (this.#quiet) this.#quiet.refresh();
    else this.#quiet = setTimeout(() => this.#letGo(), this.#options.idleMs).unref();
  }

  #letGo(): void {
    this.#quiet = undefined;
    this.#isShared = false;
    // A program that still runs may end at any moment, and another may follow it.
    if (this.#running.size > 0 || this.#line.length > 0) {
      this.#stayReady();
      return;
    }
    for (const child of [...this.#starting, ...this.#idle.splice(0)]) {
      child.listener = null;
      child.kill();
    }
    this.#starting.clear();
  }

  #advance(): void {
    for (let next = this.#next(); next >= 0 && this.#idle.length > 0; next = this.#next()) {
      const child = this.#idle.shift()!;
      const { user, settle } = this.#line.splice(next, 1)[0]!;
      const timer = setTimeout(() => child.slowDown(), this.#options.longRunMs).unref();
      this.#running.set(child, { user, timer });
      child.listener = null;
      child.keepHostAlive(true);
      settle({ ok: true, child });
    }
    this.fill();
  }

  /** Index of the next waiter to serve; -1 if none. */
  #next(): number {
    if (this.#line.length === 0) return -1;
    const counts = this.#line.map(({ user }) => this.#underWay(user));
    const fewest = Math.min(...counts);
    const isFree = this.#running.size < this.#options.maxRunning;
    return isFree || (fewest === 0 && !this.#isCrowded) ? counts.indexOf(fewest) : -1;
  }

  /** Whether even a user with nothing running has to wait. */
  get #isCrowded(): boolean {
    return this.#running.size >= 2 * this.#options.maxRunning;
  }

  #underWay(user: string): number {
    let count = 0;
    for (const one of this.#running.values()) if (one.user === user) count++;
    return count;
  }
}
