import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

const DEFAULTS = { waitMs: 5 * 60_000 };
const PATH = '/callback';

export interface LoopbackCallback {
  /** Where the browser is to come back to. */
  readonly url: string;
  /**
   * The full URL with which the browser came back. `answer` decides what the person reads there.
   */
  received(answer: (callbackUrl: string) => Promise<string>): Promise<void>;
  close(): Promise<void>;
}

/** Listens on this machine alone for the end of a login (RFC 8252, section 7.3). */
export async function listenForCallback(port = 0, waitMs = DEFAULTS.waitMs): Promise<LoopbackCallback> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new PmlError('port_in_use', `Port ${port} is taken by another program`, {
      hint: 'Choose another with --callback-port.',
      cause,
    });
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;

  return {
    url,
    received: (answer) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () =>
            reject(new PmlError('cancelled', 'Nobody logged in within five minutes', { hint: 'Try again.' })),
          waitMs,
        );
        server.on('request', (request, response) => {
          const asked = new URL(request.url ?? '/', url);
          const isAnswer = asked.searchParams.has('code') || asked.searchParams.has('error');
          if (request.method !== 'GET' || asked.pathname !== PATH || !isAnswer) {
            response.writeHead(404).end();
            return;
          }
          clearTimeout(timer);
          const say = (text: string) =>
            response
              .writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
              .end(`${text}\n`, () => resolve());
          answer(asked.href).then(say, (error) => {
            say(`The login failed: ${PmlError.from(error).message}`);
            reject(error);
          });
        });
      }),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
