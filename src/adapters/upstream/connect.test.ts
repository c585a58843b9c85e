import { expect, test } from 'vitest';
import type { ServerSettings } from '../../engine/ports.ts';
import { startFault } from './connect.ts';

const SETTINGS = { name: 'one', transport: 'stdio', command: 'node' } as ServerSettings;
const failureOf = (...written: string[]) =>
  startFault(SETTINGS, new Error('closed'), 'it ended with code 1', written).failure;

/** What published servers write when they are started without their key. */
const KEYLESS = {
  brave: [['Error: BRAVE_API_KEY environment variable is required'], 'BRAVE_API_KEY'],
  slack: [['Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables'], 'SLACK_TEAM_ID'],
  stripe: [
    [
      '\u001b[31m🚨  Error initializing Stripe MCP server:\u001b[39m',
      '   Stripe API key not provided. Please either pass it as an argument --api-key=$KEY or set the STRIPE_SECRET_KEY environment variable.',
      '/x/node_modules/@stripe/mcp/dist/cli.js:34',
      "        throw new Error('Stripe API key not provided.');",
      '              ^',
      'Error: Stripe API key not provided. Please either pass it as an argument --api-key=$KEY or set the STRIPE_SECRET_KEY environment variable.',
      '    at parseArgs (/x/node_modules/@stripe/mcp/dist/cli.js:34:15)',
      '    at node:internal/main/run_main_module:33:47',
      '',
      'Node.js v26.10.0',
    ],
    'STRIPE_SECRET_KEY',
  ],
  sentry: [
    [
      'Error: No access token was provided.',
      'Run `sentry-mcp auth login` interactively first, or pass `--access-token` / `SENTRY_ACCESS_TOKEN`.',
      'Usage: @sentry/mcp-server [--access-token=<token>] [--host=<host>]',
      ...Array.from({ length: 9 }, (_, n) => `  --option-${n}=VALUE  what it is for`),
    ],
    'SENTRY_ACCESS_TOKEN',
  ],
} as const;

test.each(Object.entries(KEYLESS))(
  '[UP-56] %s lacks a key, and the hint shows how to set it',
  (_, [written, name]) => {
    const { message, hint } = failureOf(...written);
    expect(message).toMatch(/^Server "one" lacks a key or a setting: it ended with code 1 during startup/);
    expect(message).toContain(name);
    expect(message).not.toMatch(/\n\s+at |--option|\[31m/);
    expect(hint).toContain(`"${name}":"\${${name}}"`);
  },
);

test('[UP-56] stack traces are left out, and a network failure is named as one', () => {
  const { message, hint } = failureOf(
    'Fatal error: TypeError: fetch failed',
    '    at Object.processResponse (/x/undici/lib/web/fetch/index.js:237:16)',
    '  [cause]: Error: getaddrinfo ENOTFOUND mcp.example.com',
    '      at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:122:26) {',
    "    hostname: 'mcp.example.com'",
    '  }',
    '}',
  );
  expect(message).toBe(
    'Server "one" cannot be reached: it ended with code 1 during startup; it last wrote:\nFatal error: TypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND mcp.example.com',
  );
  expect(hint).toContain('Check the address');
});

test('[UP-56] the hint for an incomplete program is to install it again; otherwise the last lines are shown', () => {
  expect(failureOf("Error: Cannot find module './dist/cli.js'").hint).toContain('install it again');
  const written = Array.from({ length: 8 }, (_, n) => `step ${n}`);
  const { message, hint } = failureOf(...written);
  expect(message).toMatch(/it last wrote:\nstep 3\n(?:step \d\n)*step 7$/);
  expect(hint).toContain('pml servers logs one');
  // A variable that is only mentioned is not one that is missing.
  expect(failureOf('Error: LOG_LEVEL_ID was read from the file, then the disk was full').message).toContain(
    'cannot be reached',
  );
});
