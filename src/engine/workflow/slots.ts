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
