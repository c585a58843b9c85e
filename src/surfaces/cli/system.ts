import type { EvaluationReport, Protocol } from '../../core/vocabulary/evaluation-report.ts';
import type { StreamReport } from '../../core/vocabulary/stream-report.ts';
import type { Embedder, Settings } from '../../engine/ports.ts';
import type { OperationClient } from '../../operations/operation-client.ts';

/** Options of every command. */
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

export interface OpenedGateway {
  /** The gateway's operations, with inputs and outputs as in the API. */
  readonly pml: OperationClient;
  /** The process that runs the gateway, if not this one; known after the first request. */
  through(): Holder | null;
  close(): Promise<void>;
}

export interface InitOptions extends GlobalOptions {
  /** A client or a file; by default every client found. */
  readonly from?: string;
  /** The servers of the project in the current folder, instead of those that apply everywhere. */
  readonly project?: boolean;
}

/** Changes to files, shown before they are made. */
export interface SetupPlan {
  /** `diff` is unified, with possible secrets hidden. */
  readonly changes: readonly { readonly file: string; readonly label: string; readonly diff: string }[];
  /** Servers that move behind PML. */
  readonly imported: readonly { readonly name: string; readonly from: string }[];
  /** Notes for the person, one sentence each. */
  readonly notes: readonly string[];
  /** Makes the changes; returns what was done, one sentence each. */
  apply(): Promise<readonly string[]>;
}

export interface ImportOptions extends GlobalOptions {
  /** A copy of a registry; without it, the source is a file. */
  readonly mirror?: string;
  /** `npm`, `pypi`, `oci` or `remote`. */
  readonly via?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly header?: Readonly<Record<string, string>>;
}

/** A server that could be added. */
export interface FoundServer {
  readonly name: string;
  /** As it would stand in the configuration. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Notes for the person, one sentence each. */
  readonly notes: readonly string[];
}

export interface TrustedConfig {
  readonly file: string;
  /** The programs and addresses it names, with variables unexpanded. */
  readonly servers: readonly { readonly name: string; readonly runs: string }[];
}

export interface StdioOptions extends GlobalOptions {
  /** The tools of all servers instead of those of PML. */
  readonly native?: boolean;
  /** With `native`: both. */
  readonly meta?: boolean;
}

export interface ServeOptions extends GlobalOptions {
  readonly host?: string;
  readonly port?: number;
  readonly demo?: 'always' | 'without-config';
  /** Logs what happens, not only problems. */
  readonly verbose?: boolean;
}

export interface RunningGateway {
  readonly url: string;
  /** Valid for one login, within 15 minutes. */
  readonly loginUrl: string;
  readonly dataDir: string;
  readonly settings: Settings;
  /** Notes for the person who started it, one sentence each. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

export interface StdioGateway {
  /** Resolves when the client has disconnected. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** The data set to measure on. */
export interface DataSetChoice {
  readonly config?: string;
  /** Folder of one or more data sets. */
  readonly data: string;
  readonly split: string;
  readonly tasks: 'tasks' | 'traces';
  readonly distractors?: string;
  /** Files that replace those of the folder. */
  readonly train?: string;
  readonly test?: string;
  readonly seed: number;
}

export interface EvaluateOptions extends DataSetChoice {
  readonly protocol: Protocol;
  readonly curve?: boolean;
  /** Random samples per point of the curve. */
  readonly draws: number;
}

export interface StreamOptions extends DataSetChoice {
  /** Milliseconds between runs; by default each run waits until everything is learned. */
  readonly pause?: number;
}

/** Progress of a command that goes through the whole store. */
export interface MaintenanceProgress {
  readonly table: string;
  readonly rows: number;
}

/** Row count and hash of a table. */
export interface TableReport {
  readonly table: string;
  readonly rows: number;
  readonly sha256: string;
}

export interface BackupReport {
  readonly file: string;
  readonly madeAt: string;
  readonly tables: readonly TableReport[];
  readonly sha256: string;
}

export interface MigrationReport {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly TableReport[];
}

/** The composed system as commands see it; opens nothing before a command needs it. */
export interface System {
  readonly version: string;
  dataDir(options: GlobalOptions): string;
  loadSettings(options: GlobalOptions): Promise<Settings>;
  /**
   * The gateway of the process that holds the data folder, or else one in this process that starts no
   * servers.
   */
  openGateway(options: GlobalOptions, role: string): Promise<OpenedGateway>;
  /** The gateway that serves from the data folder, or its demo; fails if there is none. */
  openServing(options: GlobalOptions): Promise<OpenedGateway>;
  /** Moves the servers of MCP clients behind PML, and adds PML to the clients. */
  planInit(options: InitOptions): Promise<SetupPlan>;
  /** Undoes the last init. */
  planUndo(options: InitOptions): Promise<SetupPlan>;
  /**
   * Trusts a configuration file as it is now, so that it is used in its folder; by default pml.json in this
   * folder.
   */
  trust(options: GlobalOptions, file?: string): Promise<TrustedConfig>;
  distrust(
    options: GlobalOptions,
    file?: string,
  ): Promise<{ readonly file: string; readonly wasTrusted: boolean }>;
  /** Adds a server to the configuration; returns the file. */
  addServer(options: GlobalOptions, name: string, entry: Readonly<Record<string, unknown>>): Promise<string>;
  /** Reads a server from a registry's `server.json`, a copy of a registry, or an OpenAPI document; changes nothing. */
  readImport(options: ImportOptions, source: string): Promise<FoundServer>;
  /** Removes a server from the configuration; returns the file. */
  removeServer(options: GlobalOptions, name: string): Promise<string>;
  /** Only while no gateway runs on the store. */
  restore(
    options: GlobalOptions & { readonly replace: boolean },
    file: string,
    onProgress: (progress: MaintenanceProgress) => void,
  ): Promise<BackupReport>;
  /** Copies the store to another: `embedded`, or the URL of a PostgreSQL database. */
  migrateStore(
    options: GlobalOptions & { readonly replace: boolean },
    to: string,
    onProgress: (progress: MaintenanceProgress) => void,
  ): Promise<MigrationReport>;
  /** Why this system cannot confine servers; null if it can. */
  sandboxProblem(): Promise<string | null>;
  createEmbedder(settings: Settings): Promise<Embedder>;
  /** Measures search and learning on data sets; returns one report per data set. */
  evaluate(
    options: EvaluateOptions,
    onProgress: (what: string, done?: number, total?: number) => void,
  ): Promise<EvaluationReport[]>;
  /** Measures a gateway in use, run by run; returns one report per data set. */
  stream(
    options: StreamOptions,
    onProgress: (what: string, done?: number, total?: number) => void,
  ): Promise<StreamReport[]>;
  /** The live process that holds the data folder, if any. */
  holder(options: GlobalOptions): Promise<Holder | null>;
  /** Fails while another process serves from the data folder. */
  serve(options: ServeOptions): Promise<RunningGateway>;
  /**
   * Runs as a stdio MCP server, with this process's gateway or that of the process that holds the data
   * folder.
   */
  stdio(options: StdioOptions): Promise<StdioGateway>;
}
