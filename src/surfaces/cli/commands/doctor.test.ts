import { expect, test } from 'vitest';
import { openedGateway, runCommand, SERVING } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import type { GatewayStats } from '../../../engine/gateway.ts';
import type { Settings } from '../../../engine/ports.ts';
import type { System } from '../system.ts';

const LAST = { at: '2026-11-15T10:00:00.000Z', ms: 900, during: ['execute code', 'suggest'] };

function systemWith(loop: GatewayStats['loop'], isHeld: boolean): Partial<System> {
  const gateway = handMadeGateway({ servers: async () => [], stats: async () => ({ loop }) as GatewayStats });
  return {
    dataDir: () => '/data',
    holder: async () => (isHeld ? SERVING : null),
    loadSettings: async () => ({ file: '/data/pml.json', servers: [] }) as unknown as Settings,
    openGateway: async () => openedGateway(gateway),
  };
}

test('[HANG-9] doctor tells when the running gateway answered nothing, and after what', async () => {
  const loop = { stalls: 2, stalledMs: 2_100, longestMs: 1_200, last: LAST };
  const { out } = await runCommand(['doctor'], systemWith(loop, true));
  expect(out).toContain(
    'no answers for 900 ms until 2026-11-15T10:00:00.000Z, after: execute code, suggest (2 stalls, the longest 1200 ms)',
  );
  // One that was opened for this look held up nobody.
  expect((await runCommand(['doctor'], systemWith(loop, false))).out).not.toContain('no answers for');
  const quiet = { stalls: 0, stalledMs: 0, longestMs: 0, last: null };
  expect((await runCommand(['doctor'], systemWith(quiet, true))).out).not.toContain('no answers for');
});
