import type { Embedder, Settings, Store } from '../../engine/ports.ts';

/** What every command takes. */
export interface GlobalOptions {
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
}

export interface Holder {
  readonly pid: number;
  readonly role: string;
  readonly port: number | null;
  readonly since: string;
}

export interface OpenedStore {
  readonly store: Store;
  /** The process whose store this is, once it was asked, when it is not this one. */
  through(): Holder | null;
  close(): Promise<void>;
}

export interface ServeOptions extends GlobalOptions {
  readonly host?: string;
  readonly port?: number;
  readonly demo?: 'always' | 'without-config';
}

export interface RunningGateway {
  readonly url: string;
  /** Good for one login. */
  readonly loginUrl: string;
  readonly dataDir: string;
  readonly settings: Settings;
  /** What the person who started it should know, a sentence each. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

export interface StdioGateway {
  /** Resolves when the client has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** The composed system as the commands see it: nothing is opened before a command asks. */
export interface System {
  readonly version: string;
  dataDir(options: GlobalOptions): string;
  loadSettings(options: GlobalOptions): Promise<Settings>;
  /** This process's own, or through the process that holds the data dir. */
  openStore(options: GlobalOptions, role: string): Promise<OpenedStore>;
  createEmbedder(settings: Settings): Promise<Embedder>;
  /** The living holder of the data dir, if any. */
  holder(options: GlobalOptions): Promise<Holder | null>;
  /** Refused while another process serves from the data dir. */
  serve(options: ServeOptions): Promise<RunningGateway>;
  /** The gateway as a stdio MCP server: this process's own, or that of whoever holds the data dir. */
  stdio(options: GlobalOptions): Promise<StdioGateway>;
  /** A login link of the gateway that runs on the data dir. */
  loginLink(options: GlobalOptions): Promise<string>;
}
