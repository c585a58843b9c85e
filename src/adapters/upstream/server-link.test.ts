import { expect, test } from 'vitest';
import { ClientWishes } from './server-link.ts';

test('[UP-30] a subscription begins with the first client and ends with the last', () => {
  const wishes = new ClientWishes();
  expect(wishes.subscribe('ann', 'a')).toBe(true);
  expect(wishes.subscribe('ben', 'a')).toBe(false);
  expect(wishes.subscribe('ben', 'b')).toBe(true);
  expect(wishes.unsubscribe('cas', 'a')).toBe(false);
  expect(wishes.unsubscribe('ann', 'a')).toBe(false);
  expect(wishes.unsubscribe('ann', 'a')).toBe(false);
  expect(wishes.uris).toEqual(['a', 'b']);
  expect(wishes.forget('ben')).toEqual(['a', 'b']);
  expect(wishes.uris).toEqual([]);
});

test('[UP-31] the most verbose level applies to the connection', () => {
  const wishes = new ClientWishes();
  expect(wishes.level).toBeNull();
  wishes.setLevel('ann', 'error');
  wishes.setLevel('ben', 'info');
  expect([wishes.level, wishes.levelOf('ann'), wishes.levelOf('cas')]).toEqual(['info', 'error', null]);
  wishes.forget('ben');
  expect(wishes.level).toBe('error');
});
