import { Agent, type IncomingMessage } from 'node:http';
import { deserialize, serialize } from 'node:v8';
import { type Outcome, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Bridge } from '../../engine/ports.ts';
import { expectantRequest, UnseenError } from './expectant-request.ts';

const DEFAULTS = { timeoutMs: 120_000 };

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
