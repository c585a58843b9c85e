/** What is measured, side by side. */
export interface Contender {
  readonly name: string;
  readonly version: string;
  /** In a few words: what stands between client and server. */
  readonly form: string;
  /** Servers behind it; those that front one server only have one. */
  readonly servers: number;
  /** From the start of its process to the first answered `tools/list`. */
  readonly startMs: number;
  /** Of the process tree, upstream servers not counted: see `residentBytes`. */
  readonly pid: number;
  /** What `tools/list` answers, as JSON; absent where there is no such list. */
  readonly listBytes?: number;
  /** One call of the echo tool, checked. */
  call(): Promise<void>;
  /** Runs a program that may call tools, where that is offered. */
  readonly code?: CodeRunner;
  stop(): Promise<void>;
}

export interface CodeRunner {
  /** A program that calls the echo tool so often, one after the other, and gives that number. */
  callTimes(times: number): Promise<number>;
}

export interface Setting {
  /** Where peers are installed. */
  readonly peers: string;
  /** An empty folder of the contender's own. */
  readonly home: string;
  /** Name -> command line of each upstream server. */
  readonly servers: Readonly<Record<string, readonly [command: string, ...args: string[]]>>;
}

export type Start = (setting: Setting) => Promise<Contender>;

export const MESSAGE = 'hello';
