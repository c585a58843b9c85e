import type { AlphaKind } from '../../core/graph/relatedness.ts';
import type { ModelChoice } from '../../core/learning/ranker/model-choice.ts';
import type { PermissionRules } from '../../core/policy/decide.ts';
import type { KeyScope, Visibility } from '../../core/vocabulary/principal.ts';
/** The configuration after expansion, defaults and validation: what the rest of PML reads. */
export interface Settings {
  /** File the settings came from; null when there was none and defaults apply. */
  readonly file: string | null;
  /** Nobody named the file, it lay in the current folder: each change of it has to be trusted. */
  readonly isFound?: boolean;
  readonly servers: readonly ServerSettings[];
  readonly permissions: PermissionSettings;
  /** What MCP clients see, by a glob on the name they give themselves; the first that matches applies. */
  readonly clients?: readonly { readonly name: string; readonly scope: KeyScope }[];
  readonly record: readonly RecordRule[];
  readonly embedding: EmbeddingSettings;
  readonly store: StoreSettings;
  readonly retention: RetentionSettings;
  readonly alerts: AlertSettings;
  readonly http: {
    readonly port: number;
    readonly host: string;
    /** More names it is addressed by, through a proxy for one. */
    readonly hosts: readonly string[];
    /** Absent: only keys are accepted. */
    readonly oauth?: OAuthSettings;
  };
  readonly learning: LearningSettings;
  readonly workflow: WorkflowSettings;
  readonly sharing: SharingSettings;
  readonly sandbox: SandboxSettings;
  /** Path of a templates file that replaces the shipped one. */
  readonly templates: string | null;
  /** Values that must never be shown or stored: expanded variables, headers, configured env. */
  readonly secrets: readonly string[];
}

export const ALERT_KINDS = ['failures', 'latency', 'drift', 'budget', 'approvals'] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];

/** Thresholds; null: nobody is told. */
export interface AlertSettings {
  /** Of the calls of one tool within the window, from 0 to 1. */
  readonly failureRate: number | null;
  /** That one in 20 calls of a tool took, or longer. */
  readonly latencyMs: number | null;
  readonly drift: boolean;
  /** Share of what a key may use in an hour or a day. */
  readonly budget: number | null;
  /** That a call has waited for a person. */
  readonly waitingMs: number | null;
  readonly windowMs: number;
  /** Where each alert is posted to. */
  readonly webhook: string | null;
}

export interface OAuthSettings {
  /** The public address of the gateway, an origin. */
  readonly url: string;
  /** Absent: the built-in authorization server. */
  readonly issuer?: IssuerSettings;
}

/** An authorization server of somebody else, whose tokens are signed. */
export interface IssuerSettings {
  readonly url: string;
  /** Absent: its metadata says so. */
  readonly jwksUrl?: string;
  /** Absent: the address of the endpoint that is called. */
  readonly audience?: string;
  readonly algorithms: readonly string[];
  /** The claim that names the user. */
  readonly userClaim: string;
  /** Scopes that tokens must have. */
  readonly scopes: readonly string[];
  /** Names of keys by user; `*` is everybody else. */
  readonly users: Readonly<Record<string, string>>;
}

interface ServerBase {
  readonly name: string;
  readonly disabled: boolean;
  /** Why PML disabled a server that the file did not, as a sentence. */
  readonly disabledReason?: string;
  /** Globs on the server's own tool names; exclude wins. */
  readonly tools: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  /** By the server's own name of a tool: what it is called instead, and what is said of it instead. */
  readonly rename?: Readonly<Record<string, string>>;
  readonly describe?: Readonly<Record<string, string>>;
  /** Folders that descriptions may name and that differ from start to start. */
  readonly folders?: readonly string[];
  /** Longest silence of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** Calls under way at once; more wait. */
  readonly concurrency: number;
  /** Each user, or each session of one, has a connection or process of its own; absent: all have the same. */
  readonly isolation?: 'user' | 'session';
  /** Each user reaches it with credentials of their own; absent: all with the same. */
  readonly credentials?: 'per_user';
}

export type ServerSettings =
  | (ServerBase & {
      readonly transport: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
      /** The server is confined; absent: it runs with the rights of the user. */
      readonly sandbox?: ServerSandbox;
      /** Milliseconds without a request after which its process is ended; absent: never. */
      readonly idleStopMs?: number;
    })
  | (ServerBase & {
      readonly transport: 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Absent: no proof beyond the headers, until the server asks for a login. */
      readonly auth?: ServerAuth;
    })
  | OpenApiSettings;

/** What a confined server may do beside running programs of the system and keeping files in a home of its own. */
export interface ServerSandbox {
  readonly network: boolean;
  /** Paths that it may read, and those that it may change. */
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** An API, which does not speak MCP: its operations are the tools. */
export interface OpenApiSettings extends ServerBase {
  readonly transport: 'openapi';
  /** Path of the OpenAPI document. */
  readonly document: string;
  /** Address of the API; null: the document's own. */
  readonly url: string | null;
  /** The only places that requests go to, `https://host:port`; with that of `url`. */
  readonly origins: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: Extract<ServerAuth, { kind: 'bearer' }>;
}

/** How PML proves itself to a server reached over HTTP, besides plain headers. */
export type ServerAuth =
  | { readonly kind: 'bearer'; readonly token: string }
  | (GrantBase & {
      readonly kind: 'client_credentials';
      readonly clientId: string;
      /** One of the two: a secret, or a file with a private key that signs. */
      readonly clientSecret?: string;
      readonly privateKey?: { readonly file: string; readonly algorithm: string };
      /** The only authorization server these credentials may go to; of every kind that has it. */
      readonly issuer?: string;
    })
  /** A person logs in once, in a browser; without a client id PML registers itself. */
  | (GrantBase & {
      readonly kind: 'authorization_code';
      readonly clientId?: string;
      readonly clientSecret?: string;
    })
  /** The company's identity provider says who may use the server: nobody is asked at the server. */
  | (GrantBase & {
      readonly kind: 'enterprise';
      readonly clientId: string;
      readonly clientSecret?: string;
      readonly issuer?: string;
      readonly idp: IdentityProvider;
    })
  /** The platform that PML runs on says who it is, with a token in a file. */
  | (GrantBase & {
      readonly kind: 'workload';
      readonly clientId: string;
      readonly tokenFile: string;
      readonly issuer?: string;
    });

interface GrantBase {
  readonly scope?: string;
  /** Tokens are bound to a key of the gateway (RFC 9449). */
  readonly dpop?: boolean;
}

export interface IdentityProvider {
  readonly issuer: string;
  /** Where ID tokens are exchanged; absent: its metadata says so. */
  readonly tokenUrl?: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Kept current by another program; absent: a person logs in there, in a browser. */
  readonly idTokenFile?: string;
}

/** Globs are on tool ids. */
export interface PermissionSettings extends PermissionRules {
  /** How long a run waits for a person before it ends as `approval_required`. */
  readonly approvalWaitMs: number;
  /** Whether a client may put the question to its own user; else only operators decide. */
  readonly clientsDecide: boolean;
}

export interface RecordRule {
  /** Glob on tool ids; the first rule that matches applies, and the last one matches all. */
  readonly tools: string;
  readonly keep: 'none' | 'metadata' | 'full';
}

export type EmbeddingSettings =
  | { readonly kind: 'minilm' }
  | { readonly kind: 'transformers'; readonly model: string }
  | {
      readonly kind: 'openai';
      readonly url: string;
      readonly model: string;
      readonly dimension: number;
      readonly apiKey: string | null;
    };

export interface StoreSettings {
  /** Null: the embedded one. The rest is about PostgreSQL. */
  readonly url: string | null;
  /** Connections of this gateway at the most, besides the one on which it hears of the others. */
  readonly pool: number;
  /** Longest time that one statement may take. */
  readonly statementTimeoutMs: number;
  /** Bytes of traces that wait on disk while the store is away, before runs are refused. */
  readonly queueBytes: number;
  /** How long a gateway that starts waits for the server. */
  readonly waitMs: number;
}

export interface RetentionSettings {
  /** Days after which a raw trace goes; what was learned from it stays. Null: never. */
  readonly tracesDays: number | null;
}

export interface WorkflowSettings {
  /** Calls of one run that may be made ahead of their turn; 0: none. */
  readonly speculation: number;
}

export interface LearningSettings {
  readonly enabled: boolean;
  /** Confidence from which a suggested plan may run for an intent alone; absent, or too low: the least there is. */
  readonly runFrom?: number;
  /** What the ranking model is made of, from the next training on. */
  readonly model?: ModelChoice;
  /** How search weighs the graph against meaning; absent: `adaptive`. */
  readonly alpha?: AlphaKind;
  /** Milliseconds between two single calls of one job at the most; absent: five minutes. */
  readonly segmentGapMs?: number;
}

export interface SharingSettings {
  /** Who may see what a run was about: its user and operators, or all. */
  readonly traces: Visibility;
}

export interface SandboxSettings {
  readonly memoryMb: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly callsInFlight: number;
  readonly callsTotal: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly consoleBytes: number;
}
