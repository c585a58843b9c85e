const DEFAULTS = {
  /** Concurrent requests per user. */
  atOnce: 16,
  /** Requests per second and user, and the initial burst. */
  perSecond: 25,
  burst: 50,
  /** Requests of one user that may wait; further ones are refused. */
  inLine: 256,
};

interface Waiter {
  readonly begin: () => void;
}

interface Share {
  underWay: number;
  /** Requests that may start now; grows with time. */
  allowance: number;
  countedAt: number;
  readonly line: Waiter[];
  timer: NodeJS.Timeout | undefined;
}

export interface FairShare {
  /**
   * Resolves when the request may start, with a function to call at its end; null if too many wait or it was
   * aborted.
   */
  enter(user: string, signal: AbortSignal): Promise<(() => void) | null>;
}

/**
 * Limits each user of a shared gateway. One thread serves all requests, so a user who never stops sending
 * would take nearly all of its time.
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
    // The timer either starts waiting requests or removes an idle user.
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
