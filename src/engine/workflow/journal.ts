/** Task states on their way into the store; what happens meanwhile goes along with the next write. */
export interface Journal {
  /** Resolves when it is committed, and everything before it. Rejects when the run is not ours any more. */
  write(key: string, state: unknown): Promise<void>;
  /** Resolves when everything is committed. */
  flush(): Promise<void>;
}

export function createJournal(
  save: (tasks: Readonly<Record<string, unknown>>) => Promise<void>,
  onLost: (error: unknown) => void,
): Journal {
  let waiting: Record<string, unknown> = {};
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;

  const saveAll = async () => {
    const batch = waiting;
    waiting = {};
    next = null;
    await save(batch);
  };
  const flush = () => {
    if (next) return next;
    next = last.then(saveAll);
    last = next;
    next.catch(onLost);
    return next;
  };

  return {
    write(key, state) {
      waiting[key] = state;
      return flush();
    },
    flush: () => (Object.keys(waiting).length > 0 ? flush() : last),
  };
}
