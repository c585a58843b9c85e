import { Agent, type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type Outcome, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Bridge, BridgeCall } from '../../engine/ports.ts';
import { expectantRequest, UnseenError } from './gateway-link.ts';

const DEFAULTS = {
  timeoutMs: 120_000,
  /** A process that is ending takes a moment from its last response to releasing the data folder. */
  attempts: 100,
  pauseMs: 50,
};

/** Calls the process that holds the data folder, for a command of this user. */
export function createHttpBridge(port: number, token: string, user: string): Bridge {
  const agent = new Agent({ keepAlive: true });
  return {
    async call(operation, input) {
      const call: BridgeCall = { operation, input, user };
      const reply = await post(agent, port, token, Buffer.from(JSON.stringify(call)));
      const outcome = JSON.parse(reply.toString('utf8')) as Outcome<unknown>;
      if (outcome.ok) return outcome.value;
      const { code, message, hint } = outcome.error;
      throw new PmlError(code, message, hint === undefined ? {} : { hint });
    },
    async close() {
      agent.destroy();
    },
  };
}

async function post(agent: Agent, port: number, token: string, body: Buffer): Promise<Buffer> {
  try {
    const reply = await expectantRequest({
      agent,
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/bridge',
      timeout: DEFAULTS.timeoutMs,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });
    const bytes = await readAll(reply);
    if (reply.statusCode === 200) return bytes;
    // The process is ending and has refused this request, so the next holder can be asked.
    if (reply.statusCode === 503) throw new UnseenError('it is stopping');
    throw new Error(`it responded with HTTP ${reply.statusCode}`);
  } catch (error) {
    const { message } = error as Error;
    throw error instanceof UnseenError ? gone(port, message, error) : unreachable(port, message, error);
  }
}

async function readAll(reply: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function gone(port: number, why: string, cause: unknown): PmlError {
  return new PmlError('holder_gone', `The PML process on port ${port} has ended (${why})`, {
    hint: 'Try again. "pml doctor" shows which process holds the data folder.',
    cause,
  });
}

function unreachable(port: number, why: string, cause?: unknown): PmlError {
  return new PmlError('holder_unreachable', `The PML process on port ${port} did not respond: ${why}`, {
    hint: 'It may have just ended. Check whether the change was made, then try again.',
    cause,
  });
}

/**
 * Survives the end of the holder: a request that never reached it is sent to the next process that holds the
 * data folder, perhaps this one. A request that did reach it is not repeated, because it may have taken
 * effect.
 */
export function createFailoverBridge(reach: () => Promise<Bridge>): Bridge {
  let current: Promise<Bridge> | null = null;
  return {
    async call(operation, input) {
      for (let attempt = 1; ; attempt++) {
        current ??= reach();
        const asked = current;
        try {
          return await (await asked).call(operation, input);
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
