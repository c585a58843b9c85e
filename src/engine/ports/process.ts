export interface Clock {
  now(): Date;
  /** Milliseconds with fraction, never going back; only differences mean anything. */
  monotonic(): number;
}

/** Randomness and digests, passed in so that the floors below stay pure. */
export interface Crypto {
  randomUuid(): string;
  /** SHA-256 of the UTF-8 text, in hex. */
  sha256(text: string): string;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Structured: a sentence for people, fields for machines. Secrets are redacted by the implementation. */
export interface Logger {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Tells when the process stood still, and what it was about. */
export interface LoopWatch {
  /** Something begins that may take long; short, as it is kept until more has begun. */
  begin(what: string): void;
  figures(): LoopFigures;
}

export interface LoopFigures {
  /** Since the process began. */
  readonly stalls: number;
  readonly stalledMs: number;
  readonly longestMs: number;
  readonly last: LoopStall | null;
}

export interface LoopStall {
  /** When it was over. */
  readonly at: string;
  readonly ms: number;
  /** What had begun before it, the last first. */
  readonly during: readonly string[];
}

/** What a command asks of the process that holds the data dir: an operation, by its name. */
export interface BridgeCall {
  readonly operation: string;
  readonly input: unknown;
  /** Who typed the command, as the system calls them. */
  readonly user: string;
}

/** The way there, from another process or from the holder itself. */
export interface Bridge {
  call(operation: string, input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

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
