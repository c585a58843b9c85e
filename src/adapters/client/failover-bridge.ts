import { setTimeout } from 'node:timers/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Bridge } from '../../engine/ports.ts';

/** A holder that ends takes a moment from its last answer to letting go of the data dir. */
const DEFAULTS = { attempts: 100, pauseMs: 50 };

/**
 * Goes on when the holder ends: what never reached it is asked anew of whoever holds the data dir
 * then, which may be this process. What did reach it is not repeated; it may have taken effect.
 */
export function createFailoverBridge(reach: () => Promise<Bridge>): Bridge {
  let current: Promise<Bridge> | null = null;
  return {
    async call(room, method, args) {
      for (let attempt = 1; ; attempt++) {
        current ??= reach();
        const asked = current;
        try {
          return await (await asked).call(room, method, args);
        } catch (error) {
          const gone = error instanceof PmlError && error.code === 'holder_gone';
          if (!gone || attempt === DEFAULTS.attempts) throw error;
          if (current === asked) current = null;
          await setTimeout(DEFAULTS.pauseMs);
        }
      }
    },
    async close() {
      const open = current;
      current = null;
      await (await open)?.close();
    },
  };
}
