export interface Clock {
  now(): Date;
  /** Milliseconds with fraction, never going back; only differences mean anything. */
  monotonic(): number;
}
