/** Of all gateways on a store, the one that holds the seat trains; it is free again when that one dies. */
export interface TrainerSeat {
  isHeld(): boolean;
  /** From now on takes the seat whenever it is free. */
  seek(): void;
  /** Seeks, and answers as soon as it is clear whether the seat is held here. */
  claim(): Promise<boolean>;
  /** Told when the seat was taken or lost. Answers how to stop. */
  onChange(listener: (isHeld: boolean) => void): () => void;
}
