import type { Approvals } from './calls/approvals.ts';
import type { CapabilityRegistry } from './capabilities/capability-registry.ts';
import type { LiveCatalogue } from './catalogue/live-catalogue.ts';
import type { ObservedOutputs } from './catalogue/observed-outputs.ts';
import type { LiveGraph } from './graph/live-graph.ts';
import type { LiveRanker } from './learning/live-ranker.ts';
import type { ChangeListener, ChangeTopic } from './ports.ts';

export interface FollowedParts {
  readonly catalogue: Pick<LiveCatalogue, 'reread'>;
  readonly outputs: Pick<ObservedOutputs, 'refresh'>;
  readonly capabilities: Pick<CapabilityRegistry, 'refresh'>;
  readonly approvals: Pick<Approvals, 'refresh'>;
  /** The ranker, and what is learned beside it. */
  readonly learned: readonly Pick<LiveRanker, 'reload'>[];
  readonly graph: Pick<LiveGraph, 'catchUp'>;
  readonly learns: () => boolean;
}

/** Brings what is kept in memory up to what another gateway wrote. */
export function changeFollower(parts: FollowedParts): ChangeListener {
  const { catalogue, outputs, capabilities, approvals, learned, graph, learns } = parts;
  return async (changes) => {
    const keysOf = (topic: ChangeTopic) =>
      changes?.filter((change) => change.topic === topic).map(({ key }) => key);
    const isTold = (...topics: ChangeTopic[]) =>
      changes === null || changes.some(({ topic }) => topics.includes(topic));
    // People wait for these.
    for (const id of keysOf('approvals') ?? []) await approvals.refresh(id);
    if (isTold('tools')) await catalogue.reread();
    if (isTold('outputs')) await outputs.refresh();
    if (isTold('capabilities')) await capabilities.refresh(keysOf('capabilities'));
    if (isTold('ranker')) for (const each of learned) await each.reload();
    if (isTold('traces', 'graph') && learns()) await graph.catchUp();
  };
}
