/** What gateways that share a store keep in memory, and so have to hear of. */
export type ChangeTopic = 'traces' | 'graph' | 'tools' | 'outputs' | 'capabilities' | 'ranker' | 'approvals';

export interface Change {
  readonly topic: ChangeTopic;
  /** Of the row: a tool's or capability's id, …; empty where the topic says it all. */
  readonly key: string;
}

/** Null: what was changed is not known any more, so anything may have been. */
export type ChangeListener = (changes: readonly Change[] | null) => Promise<void>;

/**
 * What other gateways changed in the store they share, in the order they committed it. Whatever is
 * committed after the feed was opened is told at least once, also what was missed while the store was away.
 */
export interface ChangeFeed {
  /** One batch at a time: the next is told when the listener is done with this one. Answers how to stop. */
  follow(listener: ChangeListener): () => void;
}
