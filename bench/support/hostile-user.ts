/** A user with a key who takes as much as possible from the gateway, until this process or its parent ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HOSTILE_TEXTS } from '../../test/support/hostile-texts.ts';

process.on('disconnect', () => process.exit());
const [url, key] = process.argv.slice(2);
const headers = {
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const longTexts = HOSTILE_TEXTS.filter((text) => text.length < 16_000);

/** Built once, so that building it does not take CPU time from the gateway. */
const execute = (call: object) => ['/api/execute', JSON.stringify(call)] as const;
const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'hostile', version: '1' },
};
const WAYS: readonly (readonly [
  atOnce: number,
  requests: readonly (readonly [path: string, body: string])[],
])[] = [
  // Endless programs.
  [16, [execute({ code: 'while (true) {}' })]],
  // A flood of large calls.
  [
    16,
    [
      execute({
        tool: 'parrot:reply',
        arguments: { stdout: 'x'.repeat(100_000) },
        intent: 'x'.repeat(10_000),
      }),
    ],
  ],
  // Calls that the server never answers.
  [16, [execute({ tool: 'parrot:reply', arguments: { silent: true } })]],
  // Long texts.
  [8, longTexts.map((intent) => ['/api/suggest', JSON.stringify({ intent })] as const)],
  // Approvals that nobody gives.
  [32, [execute({ tool: 'parrot:define' })]],
  // Sessions that nobody ends.
  [4, [['/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })]]],
];

for (const [atOnce, requests] of WAYS) {
  for (let i = 0; i < atOnce; i++) void goOn(requests, i);
}

async function goOn(
  requests: readonly (readonly [path: string, body: string])[],
  from: number,
): Promise<void> {
  for (let i = from; ; i++) {
    const [path, body] = requests[i % requests.length]!;
    const isTaken = await fetch(`${url}${path}`, { method: 'POST', headers, body }).then(
      async (reply) => (await reply.text()) !== '' && reply.ok,
      () => false,
    );
    // Rejected requests cost this process more than the gateway.
    if (!isTaken) await sleep(50);
  }
}
