/** One of the gateways that are compared. */
export interface Contender {
  readonly name: string;
  readonly version: string;
  /** In a few words: what is between client and server. */
  readonly form: string;
  /** Number of servers behind it; gateways for a single server have one. */
  readonly servers: number;
  /** From the start of its process to the first answered `tools/list`. */
  readonly startMs: number;
  /** Root of the process tree, without upstream servers: see `memoryOf`. */
  readonly pid: number;
  /** Size of the answer to `tools/list`, as JSON; absent if there is no such list. */
  readonly listBytes?: number;
  /** One call of the echo tool, checked. */
  call(): Promise<void>;
  /** Runs a program that may call tools, if offered. */
  readonly code?: CodeRunner;
  stop(): Promise<void>;
}

export interface CodeRunner {
  /** Runs a program that calls the echo tool this many times in sequence and returns the count. */
  callTimes(times: number): Promise<number>;
}

export interface Setting {
  /** The folder in which peers are installed. */
  readonly peers: string;
  /** An empty folder for this contender. */
  readonly home: string;
  /** Name -> command line of each upstream server. */
  readonly servers: Readonly<Record<string, readonly [command: string, ...args: string[]]>>;
}

export type Start = (setting: Setting) => Promise<Contender>;

export const MESSAGE = 'hello';
