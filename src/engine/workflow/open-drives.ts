import type { RunLease } from '../ports.ts';
import { createSpeculationBook, type SpeculationBook } from './speculation-book.ts';

const DEFAULTS = {
  /** How long a run that is driven stays so without a sign of life. */
  leaseMs: 15_000,
};

/** Why a drive ends before its time. */
export type StopReason =
  /** Another drives the run, or it was ended. */
  | 'lost'
  /** The gateway ends; the run goes on when it is back. */
  | 'closing';

export interface OpenDrive {
  readonly stopped: AbortSignal;
  why(): StopReason | null;
  stop(reason: StopReason): void;
  close(): void;
}

/** The runs this process is at work on. */
export interface OpenDrives {
  readonly speculation: SpeculationBook;
  open(runId: string): OpenDrive;
  /** Of an owner of its own: also within one process a run is driven once. */
  newLease(): RunLease;
  /** The run is no longer ours. */
  stop(runId: string): void;
  /** Lets all go and resolves when they are. */
  stopAll(): Promise<void>;
}

export function createOpenDrives(newOwner: () => string, leaseMs = DEFAULTS.leaseMs): OpenDrives {
  const open = new Map<OpenDrive, { readonly runId: string; readonly closed: Promise<void> }>();
  let isClosing = false;
  return {
    speculation: createSpeculationBook(),
    newLease: () => ({ owner: newOwner(), ttlMs: leaseMs }),
    open(runId) {
      const stopping = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      let why: StopReason | null = null;
      const drive: OpenDrive = {
        stopped: stopping.signal,
        why: () => why,
        stop(reason) {
          why ??= reason;
          stopping.abort();
        },
        close() {
          open.delete(drive);
          resolve();
        },
      };
      open.set(drive, { runId, closed: promise });
      if (isClosing) drive.stop('closing');
      return drive;
    },
    stop(id) {
      for (const [drive, { runId }] of open) if (runId === id) drive.stop('lost');
    },
    async stopAll() {
      isClosing = true;
      const closing = [...open].map(([drive, { closed }]) => {
        drive.stop('closing');
        return closed;
      });
      await Promise.all(closing);
    },
  };
}
