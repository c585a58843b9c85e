import { expect, test } from 'vitest';
import { Kernels } from './kernels.ts';

test('[NUM-6] blocks are aligned, do not overlap and keep their contents while the memory grows', () => {
  const { arena } = new Kernels();
  const blocks = Array.from({ length: 300 }, (_, i) => ({
    pointer: arena.put(new Float32Array(1001).fill(i)),
    i,
  }));
  for (const { pointer, i } of blocks) {
    expect(pointer % 16).toBe(0);
    expect(arena.view(pointer, 1001)).toEqual(new Float32Array(1001).fill(i));
  }
});

test('[NUM-6] memory of released blocks is reused, and blocks before the mark stay', () => {
  const { arena } = new Kernels();
  const kept = arena.put([1, 2, 3]);
  const mark = arena.mark();
  const first = arena.floats(10);
  arena.release(mark);
  expect(arena.floats(10)).toBe(first);
  expect([...arena.view(kept, 3)]).toEqual([1, 2, 3]);
});

test('[NUM-6] every instance has a memory of its own', () => {
  const [one, other] = [new Kernels().arena, new Kernels().arena];
  const pointer = one.put([7]);
  expect(other.put([8])).toBe(pointer);
  expect([...one.view(pointer, 1)]).toEqual([7]);
});
