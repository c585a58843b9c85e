import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { CommandContext } from '../command.ts';
import { listenForCallback } from '../loopback-callback.ts';
import { openBrowser } from '../open-browser.ts';
import { parseCount, parsePair } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { valueFrom, withGateway } from '../with-gateway.ts';

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

/** `pml servers login`: the authorization code flow, with the browser sent back to this process. */
export function addLoginCommand(servers: Command, context: CommandContext): void {
  const { terminal } = context;
  servers
    .command('login')
    .argument('<name>', 'which server')
    .description('log in to a server that asks for it, in a browser')
    .option('--no-browser', 'only print the address to open')
    .option('--callback-port <number>', 'port the browser comes back to (default: any free one)', parseCount)
    .option('--user <name>', 'as one user of the gateway, where each has credentials of their own')
    .option('--env <name=value>', 'with --user: a variable for a process of their own', parsePair)
    .option('--header <name=value>', 'with --user: a header sent for them', parsePair)
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: Options) =>
      withGateway(context, options, 'servers', async (gateway) => {
        const { user, env, header: headers } = options;
        const whom = user === undefined ? '' : ` as ${user}`;
        const done = () =>
          terminal.out(
            options.json
              ? `${JSON.stringify({ name, user: user ?? null, logged_in: true })}\n`
              : `Logged in to "${name}"${whom}.\n`,
          );
        if (env || headers) {
          if (user === undefined) throw new PmlError('usage', '--env and --header go with --user');
          const given = { ...(env && { env }), ...(headers && { headers }) };
          valueFrom(await gateway.keepCredentials(name, user, given));
          return done();
        }
        const callback = await listenForCallback(options.callbackPort);
        try {
          const step = valueFrom(await gateway.loginStart(name, callback.url, user));
          if (!step.done) {
            terminal.err(`Log in to "${name}"${whom} in your browser:\n\n  ${step.authorizationUrl}\n\n`);
            if (options.browser && terminal.isTty) openBrowser(step.authorizationUrl);
            await callback.received(async (callbackUrl) => {
              valueFrom(await gateway.loginFinish(name, callbackUrl, user));
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
    .argument('<name>', 'which server')
    .requiredOption('--user <name>', 'whose credentials are forgotten')
    .description('forget what a user reaches a server with')
    .addHelpText('after', '\nExample:\n  $ pml servers logout github --user ada')
    .action((name: string, { user, ...options }: GlobalOptions & { readonly user: string }) =>
      withGateway(context, options, 'servers', async (gateway) => {
        valueFrom(await gateway.keepCredentials(name, user, null));
        terminal.out(
          options.json
            ? `${JSON.stringify({ name, user, logged_in: false })}\n`
            : `${user} is logged out of "${name}".\n`,
        );
      }),
    );
}
