import { spawnSync } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Contender } from '../../bench/compare/contender.ts';
import { measure } from '../../bench/compare/measure.ts';
import { asBars, asTable } from '../../bench/compare/tell-comparison.ts';

const AMOUNTS = { calls: 2, warmUp: 1, inFlight: 2, callsInFlight: 4, programs: 2, callsFromCode: 3 };

function contender(name: string, over: Partial<Contender> = {}): Contender {
  const rest = { version: '1', form: '', servers: 1, startMs: 1, pid: 0, stop: async () => {} };
  return { name, ...rest, call: async () => {}, code: { callTimes: async (times) => times }, ...over };
}

test('[HOUSE-40] a peer that hangs, fails or times out gets a cell that says so, and the others get their figures', async () => {
  const never = new Promise<never>(() => {});
  const refuses = async () => Promise.reject(new Error('Request timed out'));
  const measured = await measure(
    [
      contender('PML'),
      contender('hangs', { call: () => never }),
      contender('refuses', { call: refuses }),
      contender('miscounts', { code: { callTimes: async () => 1 } }),
    ],
    { ...AMOUNTS, callMs: 20, figureMs: 20 },
    () => 0,
    () => {},
  );
  expect(measured).toMatchObject([
    { p50: expect.any(Number), perSecond: expect.any(Number), fromCode: expect.any(Number) },
    { p50: 'timed out', p99: 'timed out', perSecond: 'timed out', fromCode: expect.any(Number) },
    { p50: 'timed out', perSecond: 'timed out' },
    { p50: expect.any(Number), fromCode: 'failed' },
  ]);
  expect(asTable(measured)).toContain('timed out');
  expect(asBars(measured)).not.toContain('NaN');
});

test('[HOUSE-40] a peer that timed out gets no further calls while the others are measured', async () => {
  const waiting: (() => void)[] = [];
  const answerAll = async () => {
    for (const answer of waiting.splice(0)) answer();
    await setImmediate();
  };
  const slow = contender('slow', { call: () => new Promise((resolve) => waiting.push(resolve)) });
  const amounts = { ...AMOUNTS, calls: 0, warmUp: 0, callMs: 20, figureMs: 20 };
  const [measured] = await measure(
    [slow],
    amounts,
    () => 0,
    () => {},
  );
  expect(measured).toMatchObject({ perSecond: 'timed out' });
  expect(waiting).toHaveLength(AMOUNTS.inFlight);
  await answerAll();
  expect(waiting).toEqual([]);
});

test('[HOUSE-40] everything that was started is ended, even processes that left the tree and ignore signals', async () => {
  const tree = new URL('../../bench/compare/process-tree.ts', import.meta.url).href;
  const stubborn = `process.on('SIGTERM', () => {}); process.send('up'); setInterval(() => {}, 1000)`;
  // In a process of its own, which ends its own descendants.
  const script = `
    import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    const { endProcesses, startedHere } = await import('${tree}');
    process.env.PML_COMPARE = 'pml-compare-test-' + process.pid;
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    });
    await once(child, 'message');
    const before = startedHere(process.env.PML_COMPARE).includes(child.pid);
    const ended = once(child, 'exit');
    await endProcesses(process.env.PML_COMPARE, 100);
    console.log(JSON.stringify([before, ...(await ended)]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  expect(JSON.parse(stdout || stderr)).toEqual([true, null, 'SIGKILL']);
});
