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
