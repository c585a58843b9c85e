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
  /** Programs mostly wait for tools, so more may run than there are cores. */
  maxRunning: Math.min(8, Math.max(4, availableParallelism())),
  spares: 1,
  idleMs: 30_000,
  maxRuns: 1_000,
  /** Further children a run is given, when the one it got turns out to be dead. */
  attemptsMore: 2,
  /** Milliseconds until the first child is started, unless a run comes first: a gateway has other things to do. */
  warmUpAfter: 1_000,
  /** Children that may fail to start, one after the other, before those who wait are told. */
  startAttempts: 3,
  /** Milliseconds after which a program gives way to those that have just begun. */
  longRunMs: 1_000,
};

export interface SandboxParts {
  readonly logger?: Logger;
  readonly maxRunning?: number;
}

/** Programs in isolates, isolates in processes that can touch nothing, processes watched from outside. */
export function createSandbox({ logger, maxRunning = DEFAULTS.maxRunning }: SandboxParts = {}): Sandbox {
  const { spares, idleMs, maxRuns, warmUpAfter } = DEFAULTS;
  const pool = new ChildPool({
    maxRunning,
    spares,
    idleMs,
    maxRuns,
    onFailedStart: ({ how, lastWords }) =>
      logger?.log('error', 'A sandbox process did not start', { how, lastWords }),
  });
  const complain = (message: string, error: unknown) =>
    logger?.log('error', `Sandbox: ${message}`, {
      error: error instanceof Error ? error.stack : String(error),
    });
  const warmUp = setTimeout(() => pool.fill(), warmUpAfter).unref();
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
      clearTimeout(warmUp);
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
  /** Children that lie ready beside those that run. */
  readonly spares: number;
  /** Milliseconds after which a child too many is let go. */
  readonly idleMs: number;
  /** Runs after which a child is replaced by a fresh one. */
  readonly maxRuns: number;
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
 * Children that were started before they are needed. When all are busy, programs wait in line, the user with the
 * fewest under way first; a user with none need not wait for others, up to as many places again.
 */
class ChildPool {
  readonly #options: PoolOptions;
  readonly #starting = new Set<GuestChild>();
  /** The one that has rested longest comes first: it has had most time to ready itself. */
  readonly #idle: GuestChild[] = [];
  /** With whose program each is busy, and what slows it down when that takes long. */
  readonly #running = new Map<GuestChild, { readonly user: string; readonly timer: NodeJS.Timeout }>();
  readonly #line: { readonly user: string; readonly settle: (taken: Taken) => void }[] = [];
  /** In a row. */
  #failedStarts = 0;
  #trim: NodeJS.Timeout | undefined;
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

  /** Starts children until enough lie ready. */
  fill(): void {
    if (this.#isClosed) return;
    const { maxRunning, spares } = this.#options;
    const newcomers = new Set(
      this.#line.map(({ user }) => user).filter((user) => this.#underWay(user) === 0),
    );
    const free = Math.max(0, maxRunning - this.#running.size);
    const soon = Math.min(this.#line.length, Math.max(free, this.#isCrowded ? 0 : newcomers.size));
    while (this.#idle.length + this.#starting.size < soon + spares) this.#start();
    for (const child of this.#starting) child.keepHostAlive(this.#line.length > 0);
  }

  /** Those that run are ended when they are given back. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#trim);
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
      // Callers that wait get the error, instead of the same failing start over and over.
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
    // A child at rest has nothing to say.
    child.listener = { onMessage: () => child.kill(), onBreach: () => child.kill(), onExit: forget };
    this.#trim ??= setTimeout(() => this.#letGo(), this.#options.idleMs).unref();
  }

  #letGo(): void {
    this.#trim = undefined;
    while (this.#idle.length > this.#options.spares) {
      const child = this.#idle.pop()!;
      child.listener = null;
      child.kill();
    }
  }

  #advance(): void {
    for (let next = this.#next(); next >= 0 && this.#idle.length > 0; next = this.#next()) {
      const child = this.#idle.shift()!;
      const { user, settle } = this.#line.splice(next, 1)[0]!;
      const timer = setTimeout(() => child.slowDown(), DEFAULTS.longRunMs).unref();
      this.#running.set(child, { user, timer });
      child.listener = null;
      child.keepHostAlive(true);
      settle({ ok: true, child });
    }
    this.fill();
  }

  /** Whose turn it is in the line; -1 when nobody's. */
  #next(): number {
    if (this.#line.length === 0) return -1;
    const counts = this.#line.map(({ user }) => this.#underWay(user));
    const fewest = Math.min(...counts);
    const isFree = this.#running.size < this.#options.maxRunning;
    return isFree || (fewest === 0 && !this.#isCrowded) ? counts.indexOf(fewest) : -1;
  }

  /** Not even a user with nothing under way gets another place. */
  get #isCrowded(): boolean {
    return this.#running.size >= 2 * this.#options.maxRunning;
  }

  #underWay(user: string): number {
    let count = 0;
    for (const one of this.#running.values()) if (one.user === user) count++;
    return count;
  }
}
