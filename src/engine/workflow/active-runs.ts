import type { RunLease } from '../ports.ts';
import { createSpeculationMemory, type SpeculationMemory } from './speculation-memory.ts';

const DEFAULTS = {
  /** How long a run that is driven stays so without a sign of life. */
  leaseMs: 15_000,
};

/** Why a process stops working on a run early. */
export type StopReason =
  /** Another drives the run, or it was ended. */
  | 'lost'
  /** The gateway ends; the run continues when it is back. */
  | 'closing';

export interface ActiveRun {
  readonly stopped: AbortSignal;
  why(): StopReason | null;
  stop(reason: StopReason): void;
  close(): void;
}

/** The runs this process is at work on. */
export interface ActiveRuns {
  readonly speculation: SpeculationMemory;
  open(runId: string): ActiveRun;
  /** Of an owner of its own: also within one process a run is driven once. */
  newLease(): RunLease;
  /** This process lost the run. */
  stop(runId: string): void;
  /** Lets all go and resolves when they are. */
  stopAll(): Promise<void>;
}

export function createActiveRuns(newOwner: () => string, leaseMs = DEFAULTS.leaseMs): ActiveRuns {
  const open = new Map<ActiveRun, { readonly runId: string; readonly closed: Promise<void> }>();
  let isClosing = false;
  return {
    speculation: createSpeculationMemory(),
    newLease: () => ({ owner: newOwner(), ttlMs: leaseMs }),
    open(runId) {
      const stopping = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      let why: StopReason | null = null;
      const active: ActiveRun = {
        stopped: stopping.signal,
        why: () => why,
        stop(reason) {
          why ??= reason;
          stopping.abort();
        },
        close() {
          open.delete(active);
          resolve();
        },
      };
      open.set(active, { runId, closed: promise });
      if (isClosing) active.stop('closing');
      return active;
    },
    stop(id) {
      for (const [active, { runId }] of open) if (runId === id) active.stop('lost');
    },
    async stopAll() {
      isClosing = true;
      const closing = [...open].map(([active, { closed }]) => {
        active.stop('closing');
        return closed;
      });
      await Promise.all(closing);
    },
  };
}

/** No more at once than there are slots; in order of arrival. */
export interface Slots {
  /** Answers what gives the slot back. */
  take(): Promise<() => void>;
  /** One could be taken without waiting. */
  isFree(): boolean;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  const giveBack = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return {
    isFree: () => free > 0,
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isBack = false;
      return () => {
        if (!isBack) giveBack();
        isBack = true;
      };
    },
  };
}
