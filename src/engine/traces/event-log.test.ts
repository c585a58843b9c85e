import { expect, test } from 'vitest';
import type { GatewayEvent } from '../ports.ts';
import { createEventLog } from './event-log.ts';

const CLOCK = { now: () => new Date(0), monotonic: () => 0 };
const told = (characters: number): GatewayEvent => ({
  type: 'run_started',
  run_id: 'r',
  session_id: null,
  origin: 'agent',
  intent: 'x'.repeat(characters),
  owner: null,
  visibility: 'shared',
});

test('[HANG-7] large events displace older ones by size, and a reader that missed them is notified', () => {
  const log = createEventLog(CLOCK);
  for (let i = 0; i < 100; i++) log.emit(told(1_000_000));
  const kept = log.since(log.lastSeq - 5);
  expect(kept).toHaveLength(5);
  expect(log.since(0)).toBeNull();
  expect(log.since(log.lastSeq - 20)).toBeNull();
  log.emit(told(100_000_000));
  expect(log.since(log.lastSeq - 1)).toHaveLength(1);
  for (let i = 0; i < 100; i++) log.emit(told(10));
  expect(log.since(log.lastSeq - 100)).toHaveLength(100);
});

test('[HANG-7] events that are redacted again count with their new size', () => {
  const log = createEventLog(CLOCK);
  for (let i = 0; i < 8; i++) log.emit(told(1_000_000));
  log.amend('r', () => 'short');
  for (let i = 0; i < 8; i++) log.emit(told(1_000_000));
  expect(log.since(0)).toHaveLength(16);
  log.amend('r', () => 'x'.repeat(1_000_000));
  log.emit(told(10));
  expect(log.since(0)).toBeNull();
});
