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
