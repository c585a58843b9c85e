import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { type Outcome, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Bridge } from '../../engine/ports.ts';

const DEFAULTS = {
  timeoutMs: 120_000,
  /** A holder that ends takes a moment from its last answer to letting go of the data dir. */
  attempts: 100,
  pauseMs: 50,
};

/**
 * Reaches the process that holds the data dir. Values cross in V8's own form, which keeps dates,
 * maps and float arrays; both ends run the Node that PML brings along, as the same user.
 */
export function createHttpBridge(port: number, token: string): Bridge {
  const agent = new Agent({ keepAlive: true });
  return {
    async call(room, method, args) {
      const reply = await post(agent, port, token, serialize({ room, method, args }));
      const outcome = deserialize(reply) as Outcome<unknown>;
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
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      body,
    });
    const bytes = await readAll(reply);
    if (reply.statusCode === 200) return bytes;
    // It ends and has turned this away, so that the next holder can be asked.
    if (reply.statusCode === 503) throw new UnseenError('it is ending');
    throw new Error(`it answered ${reply.statusCode}`);
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
    hint: 'Try again. "pml doctor" tells who holds the data dir.',
    cause,
  });
}

function unreachable(port: number, why: string, cause?: unknown): PmlError {
  return new PmlError('holder_unreachable', `The PML process on port ${port} did not answer: ${why}`, {
    hint: 'It may just have ended. Look whether the change was made, then try again.',
    cause,
  });
}

/** The other side cannot have taken the request: nothing of its body was sent. */
export class UnseenError extends Error {
  override readonly name = 'UnseenError';
}

interface ExpectantRequest extends RequestOptions {
  readonly body: Buffer;
}

/**
 * Sends the body only after the other side said "100 Continue": whatever breaks before that cannot
 * have taken effect and may be asked of another, whatever breaks after it may have.
 */
export async function expectantRequest({ body, ...options }: ExpectantRequest): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    let isSent = false;
    const headers = { ...options.headers, 'content-length': body.length, expect: '100-continue' };
    const asked = request({ ...options, headers });
    asked.on('continue', () => {
      isSent = true;
      // From here on it is at work, for as long as that takes; that it ended the socket tells.
      asked.setTimeout(0);
      asked.end(body);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer for ${options.timeout} ms`)));
    asked.on('response', resolve);
    asked.on('error', (error) => {
      if (isSent) reject(error);
      // A connection kept from before may be closed at the other end just as it is used again: that says nothing.
      else if (asked.reusedSocket) resolve(expectantRequest({ body, ...options }));
      else reject(new UnseenError(error.message, { cause: error }));
    });
    asked.flushHeaders();
  });
}

/**
 * Continues when the holder ends: a request that never reached it is sent again to the next holder of the data
 * dir, which may be this process. What did reach it is not repeated; it may have taken effect.
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
