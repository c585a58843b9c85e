import type { Background } from './background.ts';
import type { Approvals } from './calls/approvals.ts';
import type { CapabilityRegistry } from './capabilities/capability-registry.ts';
import type { LiveCatalogue } from './catalogue/catalogue.ts';
import type { ObservedOutputs } from './catalogue/observed-outputs.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { LiveGraph } from './graph/live-graph.ts';
import type { LiveRanker } from './learning/live-ranker.ts';
import type { ChangeListener, ChangeTopic } from './ports.ts';

interface FollowedParts {
  readonly ports: Pick<FlowPorts, 'upstream' | 'changes' | 'events' | 'redact'>;
  readonly background: Background;
  readonly catalogue: Pick<LiveCatalogue, 'reread' | 'refresh'>;
  readonly outputs: Pick<ObservedOutputs, 'refresh'>;
  readonly capabilities: Pick<CapabilityRegistry, 'refresh'>;
  readonly approvals: Pick<Approvals, 'refresh'>;
  /** The ranker, and what is learned beside it. */
  readonly learned: readonly Pick<LiveRanker, 'reload'>[];
  readonly graph: Pick<LiveGraph, 'catchUp'>;
  readonly learns: () => boolean;
}

/** Follows changes made outside this gateway; returns a function that stops. */
export function followChanges(parts: FollowedParts): () => void {
  const { ports, background, catalogue } = parts;
  const { upstream, changes, events, redact } = ports;
  const refresh = (server: string) =>
    background.run(`Listing the tools of ${server}`, () => catalogue.refresh(server));
  const unsubscribe = upstream.subscribe((event) => {
    if (event.type === 'state') {
      const { server, state, error } = event;
      const told = error && { ...error, message: String(redact(error.message)) };
      events.emit({ type: 'server_state', server, state, error: told });
      if (state === 'ready') refresh(server);
    } else if (event.method === 'notifications/tools/list_changed') refresh(event.server);
  });
  const unfollow = changes.follow(changeFollower(parts));
  return () => {
    unsubscribe();
    unfollow();
  };
}

/** Updates the data in memory after another gateway wrote to the store. */
function changeFollower(parts: FollowedParts): ChangeListener {
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
