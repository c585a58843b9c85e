const DEFAULTS = {
  /** Requests of one user under way at once. */
  atOnce: 16,
  /** Requests of one user that begin in a second, after so many at once. */
  perSecond: 25,
  burst: 50,
  /** More of them wait; those beyond are refused. */
  inLine: 256,
};

interface Waiter {
  readonly begin: () => void;
}

interface Share {
  underWay: number;
  /** Requests that may begin now; grows with time. */
  allowance: number;
  countedAt: number;
  readonly line: Waiter[];
  timer: NodeJS.Timeout | undefined;
}

export interface FairShare {
  /** When it is the request's turn: how to say that it is over. Null when too many wait already, or it has gone. */
  enter(user: string, signal: AbortSignal): Promise<(() => void) | null>;
}

/**
 * What one user may ask of a gateway that others use as well. One thread looks at every request: a user
 * who never stops sending would have nearly all of it.
 */
export function createFairShare(now: () => number, limits = DEFAULTS): FairShare {
  const { atOnce, perSecond, burst, inLine } = limits;
  const shares = new Map<string, Share>();

  function shareOf(user: string): Share {
    const known = shares.get(user);
    if (known) return known;
    const share = { underWay: 0, allowance: burst, countedAt: now(), line: [], timer: undefined };
    shares.set(user, share);
    return share;
  }

  function advance(user: string, share: Share): void {
    const at = now();
    share.allowance = Math.min(burst, share.allowance + ((at - share.countedAt) / 1_000) * perSecond);
    share.countedAt = at;
    while (share.line.length > 0 && share.underWay < atOnce && share.allowance >= 1) {
      share.underWay += 1;
      share.allowance -= 1;
      share.line.shift()!.begin();
    }
    clearTimeout(share.timer);
    share.timer = undefined;
    const isIdle = share.underWay === 0 && share.line.length === 0;
    if (isIdle && share.allowance >= burst) {
      shares.delete(user);
      return;
    }
    // Either somebody waits for time to pass, or it has to be forgotten when it has.
    if (share.underWay === atOnce && share.line.length > 0) return;
    const wanted = share.line.length > 0 ? 1 : burst;
    const waitMs = Math.ceil(((wanted - share.allowance) / perSecond) * 1_000);
    if (waitMs > 0) share.timer = setTimeout(() => advance(user, share), waitMs).unref();
  }

  return {
    enter: (user, signal) =>
      new Promise((resolve) => {
        const share = shareOf(user);
        if (signal.aborted || share.line.length >= inLine) return resolve(null);
        const leave = () => {
          share.line.splice(share.line.indexOf(waiter), 1);
          resolve(null);
        };
        let isOver = false;
        const waiter: Waiter = {
          begin: () => {
            signal.removeEventListener('abort', leave);
            resolve(() => {
              if (isOver) return;
              isOver = true;
              share.underWay -= 1;
              advance(user, share);
            });
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        share.line.push(waiter);
        advance(user, share);
      }),
  };
}
