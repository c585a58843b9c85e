import { setTimeout } from 'node:timers/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Logger } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Milliseconds before a retry. */
  pauseMs: 500,
  /** Milliseconds between two log lines about the wait. */
  betweenToldMs: 10_000,
};

/** SQLSTATE classes of a server that is starting, stopping or full; any other error is permanent. */
const PASSING = /^(08|53|57)/;
const SQLSTATE = /^[0-9][0-9A-Z]{4}$/;

export interface Patience {
  /** Zero means a single attempt. */
  readonly waitMs: number;
  readonly logger?: Logger | undefined;
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens a store whose server may not be up yet: retries until it is, or until `waitMs` has passed. */
export async function openWhenAvailable<T>(open: () => Promise<T>, patience: Patience): Promise<T> {
  const { waitMs, logger, signal } = patience;
  const since = performance.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const opened = await open();
      if (Number.isFinite(toldAt)) logger?.log('info', 'The store is available', { waited: seconds(since) });
      return opened;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (performance.now() - since + DEFAULTS.pauseMs > waitMs)
        throw waitMs === 0 ? error : tooLong(error, waitMs);
      if (performance.now() - toldAt >= DEFAULTS.betweenToldMs) {
        toldAt = performance.now();
        const rest = Math.ceil((waitMs - (performance.now() - since)) / 1000);
        logger?.log('warn', `${error.message}; retrying for ${rest} s`);
      }
    }
    await setTimeout(DEFAULTS.pauseMs, undefined, { signal }).catch(() => {
      throw new PmlError('cancelled', 'The gateway shut down before its store was available');
    });
  }
}

function isAway(error: unknown): error is PmlError {
  if (!(error instanceof PmlError) || error.code !== 'store_unavailable') return false;
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code !== 'string' || !SQLSTATE.test(code) || PASSING.test(code);
}

function tooLong(error: PmlError, waitMs: number): PmlError {
  return new PmlError('store_unavailable', `${error.message}; waited ${waitMs / 1000} s`, {
    hint: `${error.hint ?? ''} store.wait_ms sets how long a start waits.`.trim(),
    cause: error.cause,
  });
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
