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

/** Of all gateways on a store, the one that holds the trainer lock trains; it is free again when that one dies. */
export interface TrainerLock {
  isHeld(): boolean;
  /** From now on takes the trainer lock whenever it is free. */
  seek(): void;
  /** Seeks, and answers as soon as it is clear whether the trainer lock is held here. */
  claim(): Promise<boolean>;
  /** Told when the trainer lock was taken or lost. Answers how to stop. */
  onChange(listener: (isHeld: boolean) => void): () => void;
}
