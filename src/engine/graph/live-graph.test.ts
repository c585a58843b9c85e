import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { sampleTrace } from '../../../test/support/samples.ts';
import { createProgramCache } from '../code/program.ts';
import { createEventLog } from '../traces/event-log.ts';
import { openLiveGraph } from './live-graph.ts';

test('[TEAM-7] traces in a graph that another gateway stored are told of, too, when the store was away', async () => {
  const store = createMemoryStore();
  const events = createEventLog({ now: () => new Date(0), monotonic: () => 0 });
  let isAway = false;
  const shaky = {
    ...store,
    graph: {
      ...store.graph,
      apply: (step: Parameters<typeof store.graph.apply>[0]) =>
        isAway ? Promise.reject(new Error('away')) : store.graph.apply(step),
    },
  };
  const told: string[] = [];
  const parts = { programs: createProgramCache(), templates: [] };
  const here = await openLiveGraph({
    ...parts,
    ports: { store: shaky, events },
  });
  here.onLearned((traces) => told.push(...traces.map(({ id }) => id)));
  const there = await openLiveGraph({ ...parts, ports: { store, events } });

  const traces = [sampleTrace(), sampleTrace(), sampleTrace()];
  await store.traces.append(traces[0]!);
  isAway = true;
  await expect(here.catchUp()).rejects.toThrow('away');
  await store.traces.appendAll(traces.slice(1));
  await there.catchUp();
  isAway = false;
  await here.catchUp();
  expect(told).toEqual(traces.map(({ id }) => id));
});
