import { afterEach, expect, test } from 'vitest';
import { eventually, type OpenUpstream, openUpstream, stdioServer } from './upstream-support.ts';

let opened: OpenUpstream | undefined;
afterEach(() => opened?.dispose());

test('[UP-40] new settings stop, start and adjust only what changed', async () => {
  opened = openUpstream([
    stdioServer('same'),
    stdioServer('limits'),
    stdioServer('changed'),
    stdioServer('gone'),
  ]);
  const { upstream } = opened;
  await Promise.all(upstream.servers().map(({ name }) => upstream.start(name)));
  const before = new Map(upstream.servers().map(({ name, pid }) => [name, pid]));
  const hanging = upstream.callTool('gone', 'hang', {});

  const changes = await upstream.reload([
    stdioServer('new'),
    stdioServer('same'),
    stdioServer('limits', 'both', { concurrency: 1, timeoutMs: 50 }),
    stdioServer('changed', 'legacy'),
  ]);
  expect(changes).toEqual({
    added: ['new'],
    removed: ['gone'],
    restarted: ['changed'],
    adjusted: ['limits'],
  });
  expect(await hanging).toMatchObject({ ok: false, error: { code: 'upstream_unavailable' } });
  expect(upstream.servers().map(({ name, state, pid }) => [name, state, pid])).toEqual([
    ['new', 'idle', null],
    ['same', 'ready', before.get('same')],
    ['limits', 'ready', before.get('limits')],
    ['changed', 'idle', null],
  ]);
  expect(await upstream.callTool('limits', 'hang', {})).toMatchObject({
    ok: false,
    error: { code: 'upstream_timeout' },
  });
  expect(await upstream.start('changed')).toMatchObject({
    ok: true,
    value: { protocolVersion: '2025-11-25' },
  });
  expect(await upstream.start('gone')).toMatchObject({ ok: false, error: { code: 'not_found' } });
});

test('[UP-41] a disabled server is never started, and says so', async () => {
  opened = openUpstream([stdioServer('off', 'both', { disabled: true })]);
  const { upstream } = opened;
  expect(upstream.servers()).toMatchObject([{ state: 'disabled' }]);
  for (const reply of [await upstream.start('off'), await upstream.restart('off')]) {
    expect(reply).toMatchObject({ ok: false, error: { code: 'forbidden', errorType: 'PERMISSION' } });
  }
  await upstream.reload([stdioServer('off')]);
  expect(await upstream.start('off')).toMatchObject({ ok: true });
});

test('[UP-42] a start in progress when the upstream is closed leaves nothing behind', async () => {
  opened = openUpstream([stdioServer('mute', 'mute')]);
  const { upstream } = opened;
  const starting = upstream.start('mute');
  await eventually(() => upstream.logs('mute')).toEqual(['I will never answer']);
  await upstream.close();
  expect(await starting).toMatchObject({ ok: false, error: { code: 'upstream_unavailable' } });
});

test('[UP-43] a caller that stops waiting for the start does not stop it for others', async () => {
  opened = openUpstream([stdioServer('bench')]);
  const { upstream } = opened;
  const controller = new AbortController();
  const impatient = upstream.start('bench', { signal: controller.signal });
  const patient = upstream.start('bench');
  controller.abort();
  expect(await impatient).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  expect(await patient).toMatchObject({ ok: true });
});
