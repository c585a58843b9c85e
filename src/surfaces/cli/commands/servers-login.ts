import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { CommandContext } from '../command.ts';
import { parseCount, parsePair } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';
import { listenForCallback, openBrowser } from './login-callback.ts';

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
