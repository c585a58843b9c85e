import type { EvaluationReport, Protocol } from '../../core/vocabulary/evaluation-report.ts';
import type { GatewayClient } from '../../engine/gateway-procedures.ts';
import type { Embedder, Settings, Store } from '../../engine/ports.ts';
import type { OperationClient } from '../../operations/operation-client.ts';

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

export interface OpenedGateway {
  readonly gateway: GatewayClient;
  /** The same gateway's operations, with inputs and answers as programs have them. */
  readonly pml: OperationClient;
  /** The process whose gateway this is, once it was asked, when it is not this one. */
  through(): Holder | null;
  close(): Promise<void>;
}

export interface InitOptions extends GlobalOptions {
  /** A client or a file; absent: every client there is. */
  readonly from?: string;
}

/** Changes to files, shown before they are made. */
export interface SetupPlan {
  /** `diff` is unified, with what may be secret hidden. */
  readonly changes: readonly { readonly file: string; readonly label: string; readonly diff: string }[];
  /** Servers that go behind PML. */
  readonly imported: readonly { readonly name: string; readonly from: string }[];
  /** What the person should know, a sentence each. */
  readonly notes: readonly string[];
  /** Makes the changes; answers what was done, a sentence each. */
  apply(): Promise<readonly string[]>;
}

export interface TrustedConfig {
  readonly file: string;
  /** What it starts and reaches, with variables as they are written. */
  readonly servers: readonly { readonly name: string; readonly runs: string }[];
}

export interface ServeOptions extends GlobalOptions {
  readonly host?: string;
  readonly port?: number;
  readonly demo?: 'always' | 'without-config';
}

export interface RunningGateway {
  readonly url: string;
  /** Good for one login, for a quarter of an hour. */
  readonly loginUrl: string;
  readonly dataDir: string;
  readonly settings: Settings;
  /** What the person who started it should know, a sentence each. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** One browser that is logged in, as it is told. */
export interface BrowserLogin {
  readonly id: string;
  /** The key it was made with; null for the owner. */
  readonly key_id: string | null;
  readonly about: string;
  readonly made_at: string;
  readonly expires_at: string;
}

export interface StdioGateway {
  /** Resolves when the client has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface EvaluateOptions {
  readonly config?: string;
  /** The folder of a data set, or of several. */
  readonly data: string;
  readonly split: string;
  readonly tasks: 'tasks' | 'traces';
  readonly protocol: Protocol;
  readonly distractors?: string;
  /** Files that stand in for those of the folder. */
  readonly train?: string;
  readonly test?: string;
  readonly curve?: boolean;
  /** For each point of the curve. */
  readonly draws: number;
  readonly seed: number;
}

/** How far a command is that goes through the whole store. */
export interface MaintenanceProgress {
  readonly table: string;
  readonly rows: number;
}

/** Rows of one table, and their hash. */
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

/** The composed system as the commands see it: nothing is opened before a command asks. */
export interface System {
  readonly version: string;
  dataDir(options: GlobalOptions): string;
  loadSettings(options: GlobalOptions): Promise<Settings>;
  /** This process's own, or through the process that holds the data dir. */
  openStore(options: GlobalOptions, role: string): Promise<OpenedStore>;
  /** The gateway of the process that holds the data dir, else one of this process that starts no server. */
  openGateway(options: GlobalOptions, role: string): Promise<OpenedGateway>;
  /** Puts the servers of MCP clients behind PML, and PML into the clients. */
  planInit(options: InitOptions): Promise<SetupPlan>;
  /** Takes the last init back. */
  planUndo(options: InitOptions): Promise<SetupPlan>;
  /** Trusts a configuration file as it is now, so that it is used in its folder; absent: pml.json here. */
  trust(options: GlobalOptions, file?: string): Promise<TrustedConfig>;
  distrust(
    options: GlobalOptions,
    file?: string,
  ): Promise<{ readonly file: string; readonly wasTrusted: boolean }>;
  /** Writes a server into the configuration; answers the file. */
  addServer(options: GlobalOptions, name: string, entry: Readonly<Record<string, unknown>>): Promise<string>;
  /** Takes a server out of the configuration; answers the file. */
  removeServer(options: GlobalOptions, name: string): Promise<string>;
  /** All of the store in one file, also of a gateway that runs. */
  backup(
    options: GlobalOptions,
    file: string,
    onProgress: (progress: MaintenanceProgress) => void,
  ): Promise<BackupReport>;
  /** Only while no gateway runs on the store. */
  restore(
    options: GlobalOptions & { readonly replace: boolean },
    file: string,
    onProgress: (progress: MaintenanceProgress) => void,
  ): Promise<BackupReport>;
  /** Copies the store into another one: `embedded`, or the URL of a PostgreSQL database. */
  migrateStore(
    options: GlobalOptions & { readonly replace: boolean },
    to: string,
    onProgress: (progress: MaintenanceProgress) => void,
  ): Promise<MigrationReport>;
  createEmbedder(settings: Settings): Promise<Embedder>;
  /** Measures search and learning on data sets, one report for each. */
  evaluate(
    options: EvaluateOptions,
    onProgress: (what: string, done?: number, total?: number) => void,
  ): Promise<EvaluationReport[]>;
  /** The living holder of the data dir, if any. */
  holder(options: GlobalOptions): Promise<Holder | null>;
  /** Refused while another process serves from the data dir. */
  serve(options: ServeOptions): Promise<RunningGateway>;
  /** The gateway as a stdio MCP server: this process's own, or that of the process that holds the data dir. */
  stdio(options: GlobalOptions): Promise<StdioGateway>;
  /** A login link of the gateway that runs on the data dir: its owner's, or that of a key's user. */
  loginLink(options: GlobalOptions, key?: string): Promise<string>;
  /** The browsers that are logged in there. */
  logins(options: GlobalOptions): Promise<readonly BrowserLogin[]>;
  /** False when there is none of this id. */
  revokeLogin(options: GlobalOptions, id: string): Promise<boolean>;
}
