import { expect, test } from 'vitest';
import { openedGateway, runCommand, SERVING } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { testGateway, tool } from '../../../../test/support/test-gateway.ts';
import type { GatewayStats } from '../../../engine/catalogue/inventory.ts';
import type { Settings } from '../../../engine/ports.ts';
import type { System } from '../system.ts';

const LAST = { at: '2026-11-15T10:00:00.000Z', ms: 900, during: ['execute code', 'suggest'] };

function systemWith(loop: GatewayStats['loop'], isHeld: boolean): Partial<System> {
  const stats = { speculation: { started: 0, used: 0 }, loop } as GatewayStats;
  const gateway = handMadeGateway({
    servers: async () => [],
    drift: async () => [],
    stats: async () => stats,
  });
  return {
    dataDir: () => '/data',
    // A command that opens the data folder itself is its holder meanwhile.
    holder: async () => SERVING,
    loadSettings: async () => ({ file: '/data/pml.json', servers: [] }) as unknown as Settings,
    openGateway: async () => ({ ...openedGateway(gateway), through: () => (isHeld ? SERVING : null) }),
  };
}

test('[HANG-9] doctor says when the running gateway was blocked, and by what', async () => {
  const loop = { stalls: 2, stalledMs: 2_100, longestMs: 1_200, last: LAST };
  const { out } = await runCommand(['doctor'], systemWith(loop, true));
  expect(out).toContain(
    'unresponsive for 900 ms until 2026-11-15T10:00:00.000Z, after: execute code, suggest (2 stalls, longest 1200 ms)',
  );
  // One that was opened for this look held up nobody.
  expect((await runCommand(['doctor'], systemWith(loop, false))).out).not.toContain('unresponsive for');
  const quiet = { stalls: 0, stalledMs: 0, longestMs: 0, last: null };
  expect((await runCommand(['doctor'], systemWith(quiet, true))).out).not.toContain('unresponsive for');
});

test('[CLI-11] doctor --tools lists tools that a search for their own description does not find', async () => {
  const quiet = { stalls: 0, stalledMs: 0, longestMs: 0, last: null };
  const hidden = [
    { tool: 'git:git_commit', winner: 'git:git_push' },
    { tool: 'git:mute', winner: null },
  ];
  const gateway = handMadeGateway({
    servers: async () => [],
    stats: async () => ({ loop: quiet }) as GatewayStats,
    hiddenTools: async () => ({ tools: 3, hidden }),
  });
  const system = { ...systemWith(quiet, true), openGateway: async () => openedGateway(gateway) };
  const { out } = await runCommand(['doctor', '--tools'], system);
  expect(out).toContain('1 of 3 tools are found by their own description');
  expect(out).toContain('git:git_commit: a search for its description finds git:git_push first');
  expect(out).toContain('git:mute has no description');
  expect((await runCommand(['doctor'], system)).out).not.toContain('git:git_commit');
});

test('[CLI-12] doctor starts the servers it checks: one that does not start or list its tools is a failure', async () => {
  const unlisted = { name: 'mute', tools: [], listFailure: 'no licence' };
  const { gateway } = await testGateway({
    servers: [{ name: 'files', tools: [tool('read', () => 'text')] }, unlisted],
  });
  const quiet = { stalls: 0, stalledMs: 0, longestMs: 0, last: null };
  const system = { ...systemWith(quiet, false), openGateway: async () => openedGateway(gateway) };
  const { out } = await runCommand(['doctor'], system);
  expect(out).toContain('1 of 2 servers works, 1 tool');
  expect(out).toMatch(/✗ servers {4}mute: .*no licence\n {4}→ See "pml servers logs mute"/);
});
