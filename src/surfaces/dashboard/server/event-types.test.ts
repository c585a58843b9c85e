import { expect, expectTypeOf, test } from 'vitest';
import type { GatewayEvent } from '../../../engine/ports.ts';
import { EVENT_TYPES, type LiveEvent } from '../shared/events.ts';

type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> : never;

test('[DASH-8] the page knows every event type of the gateway', () => {
  expectTypeOf<GatewayEvent>().toExtend<WithoutTime<LiveEvent>>();
  expectTypeOf<GatewayEvent['type']>().toEqualTypeOf<LiveEvent['type']>();
  expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
});
