import { setTimeout } from 'node:timers/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Logger } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Before it is tried again, in milliseconds. */
  pauseMs: 500,
  /** Between two lines in the log that say so. */
  betweenToldMs: 10_000,
};

/** Classes of SQLSTATE of a server that is starting, ending or full; any other has answered and will say the same again. */
const PASSING = /^(08|53|57)/;
const SQLSTATE = /^[0-9][0-9A-Z]{4}$/;

export interface Patience {
  /** Zero: it is tried once. */
  readonly waitMs: number;
  readonly logger?: Logger | undefined;
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens a store whose server may not be there yet: tries again until it is, or until that took too long. */
export async function openWhenAvailable<T>(open: () => Promise<T>, patience: Patience): Promise<T> {
  const { waitMs, logger, signal } = patience;
  const since = performance.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const opened = await open();
      if (Number.isFinite(toldAt)) logger?.log('info', 'The store answers', { waited: seconds(since) });
      return opened;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (performance.now() - since + DEFAULTS.pauseMs > waitMs)
        throw waitMs === 0 ? error : tooLong(error, waitMs);
      if (performance.now() - toldAt >= DEFAULTS.betweenToldMs) {
        toldAt = performance.now();
        const rest = Math.ceil((waitMs - (performance.now() - since)) / 1000);
        logger?.log('warn', `${error.message}; trying again for ${rest} s`);
      }
    }
    await setTimeout(DEFAULTS.pauseMs, undefined, { signal }).catch(() => {
      throw new PmlError('cancelled', 'The gateway shut down before its store answered');
    });
  }
}

function isAway(error: unknown): error is PmlError {
  if (!(error instanceof PmlError) || error.code !== 'store_unavailable') return false;
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code !== 'string' || !SQLSTATE.test(code) || PASSING.test(code);
}

function tooLong(error: PmlError, waitMs: number): PmlError {
  return new PmlError('store_unavailable', `${error.message}; it was waited for ${waitMs / 1000} s`, {
    hint: `${error.hint ?? ''} store.wait_ms says how long a start waits.`.trim(),
    cause: error.cause,
  });
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
