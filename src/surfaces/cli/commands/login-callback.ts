import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';

const DEFAULTS = { waitMs: 5 * 60_000 };

const PATH = '/callback';

interface LoopbackCallback {
  /** Redirect address for the browser. */
  readonly url: string;
  /**
   * Waits for the redirect and passes its full URL to `answer`, whose return value is shown in the browser.
   */
  received(answer: (callbackUrl: string) => Promise<string>): Promise<void>;
  close(): Promise<void>;
}

/** Listens on loopback only for the redirect of a login (RFC 8252, section 7.3). */
export async function listenForCallback(port = 0, waitMs = DEFAULTS.waitMs): Promise<LoopbackCallback> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new PmlError('port_in_use', `Port ${port} is in use by another program`, {
      hint: 'Choose another port with --callback-port.',
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
            reject(
              new PmlError('cancelled', 'The login timed out after five minutes', { hint: 'Try again.' }),
            ),
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

/** Best effort: the caller prints the address too. */
export function openBrowser(url: string): void {
  const [command, ...args] = opener(url);
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  // Without a browser the address can be copied.
  child.on('error', () => {});
  child.unref();
}

function opener(url: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', url];
  // Not through cmd.exe, which would interpret the & in the address.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return ['xdg-open', url];
}
