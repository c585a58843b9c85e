import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { CommandContext } from '../command.ts';
import { parseCount, parsePair } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

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

interface Options extends GlobalOptions {
  readonly browser: boolean;
  readonly callbackPort?: number;
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
}

const EXAMPLES = `
Example:
  $ pml servers login github
  $ pml servers login jira --user ada --env JIRA_TOKEN=...`;

/** `pml servers login`: the authorization code flow, redirecting the browser to this process. */
export function addLoginCommand(servers: Command, context: CommandContext): void {
  const { terminal } = context;
  servers
    .command('login')
    .argument('<name>', 'name of the server')
    .description('log in to a server with OAuth, in a browser')
    .option('--no-browser', 'print the address instead of opening a browser')
    .option(
      '--callback-port <number>',
      'port for the redirect from the browser (default: any free port)',
      parseCount,
    )
    .option('--user <name>', 'log in as this user of the gateway, for servers with per-user credentials')
    .option(
      '--env <name=value>',
      'with --user: an environment variable for the process of this user',
      parsePair,
    )
    .option('--header <name=value>', 'with --user: a header to send for this user', parsePair)
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: Options) =>
      withGateway(context, options, 'servers', async (pml) => {
        const { user, env, header: headers } = options;
        const whom = user === undefined ? '' : ` as ${user}`;
        const done = () =>
          terminal.out(
            options.json
              ? `${JSON.stringify({ name, user: user ?? null, logged_in: true })}\n`
              : `Logged in to "${name}"${whom}.\n`,
          );
        if (env || headers) {
          if (user === undefined) throw new PmlError('usage', '--env and --header need --user');
          const credentials = { ...(env && { env }), ...(headers && { headers }) };
          await pml.setServerCredentials({ name, user, credentials });
          return done();
        }
        const login = { name, ...(user !== undefined && { user }) };
        const callback = await listenForCallback(options.callbackPort);
        try {
          const step = await pml.startServerLogin({ ...login, redirect_url: callback.url });
          if (!step.done) {
            terminal.err(`Log in to "${name}"${whom} in your browser:\n\n  ${step.authorization_url}\n\n`);
            if (options.browser && terminal.isTty) openBrowser(step.authorization_url);
            await callback.received(async (callbackUrl) => {
              await pml.finishServerLogin({ ...login, callback_url: callbackUrl });
              return `PML is logged in to "${name}". You can close this window.`;
            });
          }
        } finally {
          await callback.close();
        }
        done();
      }),
    );

  servers
    .command('logout')
    .argument('<name>', 'name of the server')
    .requiredOption('--user <name>', 'the user whose credentials are deleted')
    .description('delete the credentials of a user for a server')
    .addHelpText('after', '\nExample:\n  $ pml servers logout github --user ada')
    .action((name: string, { user, ...options }: GlobalOptions & { readonly user: string }) =>
      withGateway(context, options, 'servers', async (pml) => {
        await pml.setServerCredentials({ name, user, credentials: null });
        terminal.out(
          options.json
            ? `${JSON.stringify({ name, user, logged_in: false })}\n`
            : `${user} is logged out of "${name}".\n`,
        );
      }),
    );
}

/** Listens on loopback only for the redirect of a login (RFC 8252, section 7.3). */
async function listenForCallback(port = 0, waitMs = DEFAULTS.waitMs): Promise<LoopbackCallback> {
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
function openBrowser(url: string): void {
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
