import { expect, test } from 'vitest';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { openWhenAvailable } from './open-when-available.ts';

/** Fails so often in this way, then opens. */
function opening(times: number, code?: string) {
  let tries = 0;
  const open = async () => {
    tries++;
    if (tries > times) return 'open';
    const cause = Object.assign(new Error('no'), code !== undefined && { code });
    throw new PmlError('store_unavailable', 'It does not answer', { cause });
  };
  return { open, tries: () => tries };
}

test('[TEAM-15] a server that is down, starting or full is tried again', async () => {
  for (const code of ['ECONNREFUSED', 'EAI_AGAIN', 'EPIPE', '57P03', '53300', '08006', undefined]) {
    const { open, tries } = opening(1, code);
    expect(await openWhenAvailable(open, { waitMs: 10_000 })).toBe('open');
    expect(tries()).toBe(2);
  }
});

test('[TEAM-15] a refusal by a running server is reported at once; without waiting, so is every failure', async () => {
  for (const [code, waitMs] of [
    ['28P01', 10_000],
    ['3D000', 10_000],
    ['42501', 10_000],
    ['ECONNREFUSED', 0],
  ] as const) {
    const { open, tries } = opening(9, code);
    await expect(openWhenAvailable(open, { waitMs })).rejects.toMatchObject({
      message: 'It does not answer',
    });
    expect(tries()).toBe(1);
  }
});

test('[TEAM-15] a gateway that shuts down stops waiting', async () => {
  const leaving = new AbortController();
  const waiting = openWhenAvailable(opening(99).open, { waitMs: 60_000, signal: leaving.signal });
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
});
