import { expect, expectTypeOf, test } from 'vitest';
import type { traceSummaryToWire } from '../../../core/vocabulary/execution-trace.ts';
import type {
  capabilitySummaryToWire,
  capabilityToWire,
  codeRunToWire,
  hitToWire,
  learningToWire,
  runToWire,
  seenTraceToWire,
  serverToWire,
  statsToWire,
  toolRunToWire,
} from '../../../engine/gateway-wire.ts';
import type { PathView } from '../../../engine/graph/explain-path.ts';
import type { GraphView } from '../../../engine/graph/graph-view.ts';
import type { NodeDetails } from '../../../engine/graph/node-details.ts';
import type { Right } from '../../../engine/people/roles.ts';
import type { GatewayEvent } from '../../../engine/ports.ts';
import type * as Page from '../shared/api-types.ts';
import { EVENT_TYPES, type LiveEvent } from '../shared/events.ts';

/** As JSON carries it: read-only or not is the same, and `undefined` is left out. */
type Told<F extends (...args: never[]) => unknown> = ReturnType<F>;
type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> : never;

test('[DASH-8] the page expects what the API gives', () => {
  expectTypeOf<Told<typeof statsToWire>>().toExtend<Omit<Page.Stats, 'last_event_id'>>();
  expectTypeOf<Told<typeof serverToWire>>().toExtend<Page.Server>();
  expectTypeOf<Told<typeof hitToWire>>().toExtend<Page.SearchHit>();
  expectTypeOf<GraphView>().toExtend<Page.Graph>();
  expectTypeOf<NodeDetails>().toExtend<Page.GraphNodeDetails>();
  expectTypeOf<PathView>().toExtend<Page.GraphPath>();
  expectTypeOf<Told<typeof traceSummaryToWire>>().toExtend<Page.TraceSummary>();
  expectTypeOf<Told<typeof seenTraceToWire>>().toExtend<Page.Trace>();
  expectTypeOf<Told<typeof runToWire>>().toExtend<Page.Run>();
  expectTypeOf<Told<typeof codeRunToWire>>().toExtend<Page.Execution>();
  expectTypeOf<Told<typeof toolRunToWire>>().toExtend<Page.Execution>();
  expectTypeOf<Told<typeof capabilitySummaryToWire>>().toExtend<Page.CapabilitySummary>();
  expectTypeOf<Told<typeof capabilityToWire>>().toExtend<Page.Capability>();
  expectTypeOf<Told<typeof learningToWire>>().toExtend<Page.Learning>();
  expectTypeOf<Right>().toEqualTypeOf<Page.Right>();
});

test('[DASH-8] the page knows every event of the gateway by name', () => {
  expectTypeOf<GatewayEvent>().toExtend<WithoutTime<LiveEvent>>();
  expectTypeOf<GatewayEvent['type']>().toEqualTypeOf<LiveEvent['type']>();
  expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
});
