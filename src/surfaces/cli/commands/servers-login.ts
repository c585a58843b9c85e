import type { Command } from 'commander';
import type { CommandContext } from '../command.ts';
import { listenForCallback } from '../loopback-callback.ts';
import { openBrowser } from '../open-browser.ts';
import { parseCount } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { valueFrom, withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly browser: boolean;
  readonly callbackPort?: number;
}

/** `pml servers login`: the authorization code flow, with the browser sent back to this process. */
export function addLoginCommand(servers: Command, context: CommandContext): void {
  const { terminal } = context;
  servers
    .command('login')
    .argument('<name>', 'which server')
    .description('log in to a server that asks for it, in a browser')
    .option('--no-browser', 'only print the address to open')
    .option('--callback-port <number>', 'port the browser comes back to (default: any free one)', parseCount)
    .addHelpText('after', '\nExample:\n  $ pml servers login github')
    .action((name: string, options: Options) =>
      withGateway(context, options, 'servers', async (gateway) => {
        const callback = await listenForCallback(options.callbackPort);
        try {
          const step = valueFrom(await gateway.loginStart(name, callback.url));
          if (!step.done) {
            terminal.err(`Log in to "${name}" in your browser:\n\n  ${step.authorizationUrl}\n\n`);
            if (options.browser && terminal.isTty) openBrowser(step.authorizationUrl);
            await callback.received(async (callbackUrl) => {
              valueFrom(await gateway.loginFinish(name, callbackUrl));
              return `PML is logged in to "${name}". You can close this window.`;
            });
          }
        } finally {
          await callback.close();
        }
        terminal.out(
          options.json ? `${JSON.stringify({ name, logged_in: true })}\n` : `Logged in to "${name}".\n`,
        );
      }),
    );
}
