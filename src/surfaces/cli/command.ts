import type { Command } from 'commander';
import type { System } from './system.ts';

/** The terminal, so that commands never touch the process itself. */
export interface Terminal {
  /** Results: what a pipe reads. */
  out(text: string): void;
  /** Resolves when what was put out has gone, so that long results do not pile up here. */
  drained(): Promise<void>;
  /** Everything said beside the result. */
  err(text: string): void;
  readonly isTty: boolean;
  /** What comes in on stdin, piece by piece. */
  input(): AsyncIterable<string>;
  /** What a person answers to a yes-or-no question; null when there is nobody to ask. */
  confirm(question: string): Promise<boolean | null>;
  /** Resolves when the person or the system asks the command to end. */
  untilStopped(): Promise<void>;
}

export interface CommandContext {
  readonly system: System;
  readonly terminal: Terminal;
  /** Exit code of the command, where it ends without an error but not well. */
  fail(): void;
}

/** One command: adds itself to the program. */
export type CommandModule = (program: Command, context: CommandContext) => void;
