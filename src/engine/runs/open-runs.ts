import type { EventLog } from '../traces/event-log.ts';

/** The runs under way, by what is told of them. */
export interface OpenRuns {
  count(): number;
  close(): void;
}

export function watchRuns(events: Pick<EventLog, 'follow'>): OpenRuns {
  const underWay = new Set<string>();
  const close = events.follow(({ event }) => {
    if (event.type === 'run_started') underWay.add(event.run_id);
    if (event.type === 'run_finished') underWay.delete(event.run_id);
  });
  return { count: () => underWay.size, close };
}
