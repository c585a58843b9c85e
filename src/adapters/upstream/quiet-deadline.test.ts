import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { QuietDeadline } from './ask-router.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('[UP-9] expires after the given silence, and not before', () => {
  const deadline = new QuietDeadline(100, undefined);
  vi.advanceTimersByTime(99);
  deadline.touch();
  vi.advanceTimersByTime(99);
  expect(deadline.expired).toBe(false);
  vi.advanceTimersByTime(1);
  expect([deadline.expired, deadline.signal.aborted]).toEqual([true, true]);
});

test('[UP-13] pauses while anyone holds it', () => {
  const deadline = new QuietDeadline(100, undefined);
  const release = [deadline.hold(), deadline.hold()];
  vi.advanceTimersByTime(10_000);
  release[0]?.();
  release[0]?.();
  deadline.touch();
  vi.advanceTimersByTime(10_000);
  expect(deadline.expired).toBe(false);
  release[1]?.();
  vi.advanceTimersByTime(100);
  expect(deadline.expired).toBe(true);
});

test('[UP-48] a firm deadline keeps counting despite messages, and pauses only while it is held', () => {
  const deadline = new QuietDeadline(100, undefined, true);
  vi.advanceTimersByTime(60);
  deadline.touch();
  const release = deadline.hold();
  vi.advanceTimersByTime(10_000);
  release();
  deadline.touch();
  vi.advanceTimersByTime(39);
  deadline.touch();
  expect(deadline.expired).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.expired).toBe(true);
});

test('[UP-11] ends with its caller, and leaves no timer behind', () => {
  const controller = new AbortController();
  const deadline = new QuietDeadline(100, controller.signal);
  controller.abort(new Error('enough'));
  expect(deadline.signal.reason).toEqual(new Error('enough'));
  expect(deadline.expired).toBe(false);
  deadline.dispose();
  expect(vi.getTimerCount()).toBe(0);
  expect(new QuietDeadline(100, controller.signal).signal.aborted).toBe(true);
});
