import { deserialize, serialize } from 'node:v8';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Outcome } from '../../core/vocabulary/result.ts';
import type { Bridge } from '../../engine/ports.ts';

const DEFAULTS = { timeoutMs: 120_000 };

/**
 * Reaches the process that holds the data dir. Values cross in V8's own form, which keeps dates,
 * maps and float arrays; both ends run the Node that PML brings along, as the same user.
 */
export function createHttpBridge(port: number, token: string): Bridge {
  const url = `http://127.0.0.1:${port}/bridge`;
  return {
    async call(room, method, args) {
      let reply: Response;
      try {
        reply = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
          body: new Uint8Array(serialize({ room, method, args })),
          signal: AbortSignal.timeout(DEFAULTS.timeoutMs),
        });
      } catch (error) {
        throw unreachable(port, (error as Error).message, error);
      }
      if (!reply.ok) throw unreachable(port, `it answered ${reply.status}`);
      const outcome = deserialize(Buffer.from(await reply.arrayBuffer())) as Outcome<unknown>;
      if (outcome.ok) return outcome.value;
      const { code, message, hint } = outcome.error;
      throw new PmlError(code, message, hint === undefined ? {} : { hint });
    },
    async close() {},
  };
}

function unreachable(port: number, why: string, cause?: unknown): PmlError {
  return new PmlError('holder_unreachable', `The PML process on port ${port} cannot be reached: ${why}`, {
    hint: 'It may just have ended; try again. "pml doctor" tells who holds the data dir.',
    cause,
  });
}
