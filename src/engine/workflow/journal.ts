type States = Readonly<Record<string, unknown>>;

/** Task states on their way into the store, in order; those of one moment go together. */
export interface Journal {
  /** Resolves when it is committed, and everything before it. Rejects when the run is not ours any more. */
  write(key: string, state: unknown): Promise<void>;
  /** Goes with what is written next, or soon by itself: never later than what comes after it. */
  note(key: string, state: unknown): void;
  /** The same for what was noted so far, also when that is nothing. */
  flush(): Promise<void>;
  /** What was noted and is not on its way yet, once all else is committed; the caller commits it. */
  rest(): Promise<States>;
}

export function createJournal(
  save: (tasks: States) => Promise<void>,
  soon: () => Promise<void>,
  onLost: (error: unknown) => void,
): Journal {
  let waiting: Record<string, unknown> = {};
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let isComing = false;

  const take = () => {
    const batch = waiting;
    waiting = {};
    return batch;
  };
  const flush = () => {
    if (next) return next;
    next = last.then(() => {
      next = null;
      return save(take());
    });
    last = next;
    next.catch(onLost);
    return next;
  };
  const flushSoon = async () => {
    isComing = true;
    await soon();
    isComing = false;
    if (Object.keys(waiting).length > 0) flush();
  };

  return {
    write(key, state) {
      waiting[key] = state;
      return flush();
    },
    note(key, state) {
      waiting[key] = state;
      if (!isComing && !next) void flushSoon();
    },
    flush,
    async rest() {
      while (next) await next;
      await last;
      return take();
    },
  };
}
