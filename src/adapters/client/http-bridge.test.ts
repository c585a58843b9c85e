import { expect, test } from 'vitest';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Bridge } from '../../engine/ports.ts';
import { createFailoverBridge } from './http-bridge.ts';

function holder(
  name: string,
  ending: { error?: PmlError } = {},
): Bridge & { calls: number; closed: boolean } {
  return {
    calls: 0,
    closed: false,
    async call(operation) {
      this.calls += 1;
      if (ending.error) throw ending.error;
      return `${name} ${operation}`;
    },
    async close() {
      this.closed = true;
    },
  };
}

test('[BRIDGE-1] a call that never reached the holder goes to the next holder, which all callers share', async () => {
  const ending: { error?: PmlError } = {};
  const first = holder('first', ending);
  const second = holder('second');
  const line = [first, second];
  const bridge = createFailoverBridge(async () => line.shift()!);
  expect(await bridge.call('get_stats', {})).toBe('first get_stats');
  ending.error = new PmlError('holder_gone', 'gone');
  const answers = await Promise.all([1, 2, 3].map(() => bridge.call('get_stats', {})));
  expect(answers).toEqual(Array(3).fill('second get_stats'));
  expect(line).toEqual([]);
  await bridge.close();
  expect(second.closed).toBe(true);
});

test('[BRIDGE-2] a call that may have taken effect is not repeated', async () => {
  const broken = holder('broken', { error: new PmlError('holder_unreachable', 'reset') });
  const bridge = createFailoverBridge(async () => broken);
  await expect(bridge.call('import_traces', {})).rejects.toMatchObject({
    code: 'holder_unreachable',
  });
  expect(broken.calls).toBe(1);
});

test('[BRIDGE-2] a holder that stays unreachable is an error, not an endless loop', async () => {
  const bridge = createFailoverBridge(async () =>
    holder('gone', { error: new PmlError('holder_gone', 'gone') }),
  );
  await expect(bridge.call('get_stats', {})).rejects.toMatchObject({ code: 'holder_gone' });
});
