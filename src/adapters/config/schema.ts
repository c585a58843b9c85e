import { z } from 'zod';
import { ALPHA_KINDS } from '../../core/graph/relatedness.ts';
import { OPTIONAL_TERMS } from '../../core/learning/ranker/model-choice.ts';
import { LEAST_CONFIDENCE, PROFILES } from '../../core/policy/decide.ts';
import { FULL_SCOPE, LANES } from '../../core/vocabulary/principal.ts';
import { auth, httpUrl, oauth, safeUrl, text } from './access-schema.ts';

/** Every default of the configuration, as in the published JSON Schema. */
export const DEFAULTS = {
  server: {
    disabled: false,
    credentials: 'shared',
    isolation: 'shared',
    args: [] as string[],
    include: ['*'],
    exclude: [] as string[],
    /** Milliseconds. */
    timeout: 60_000,
    concurrency: 8,
  },
  permissions: {
    rules: [] as string[],
    default: 'allow',
    profile: 'balanced',
    /** Below the 60 s after which MCP clients usually time out. */
    approval_wait_ms: 45_000,
    /** A client's answer cannot be verified: an agent that is its own client would approve its own calls. */
    clients_decide: false,
  },
  /** How much of a call is recorded if no rule of `record` matches. */
  record: 'full',
  embedding: { kind: 'minilm' },
  store: { pool: 8, statement_timeout_ms: 30_000, queue_mb: 256, wait_ms: 60_000 },
  alerts: { failure_rate: 0.5, p95_ms: 30_000, drift: true, budget: 0.9, waiting: 10, window: 60 },
  http: { port: 8080, host: '127.0.0.1', hosts: [] as string[] },
  learning: {
    enabled: true,
    run_from: LEAST_CONFIDENCE,
    terms: [] as (typeof OPTIONAL_TERMS)[number][],
    heads: 8,
    alpha: 'adaptive',
    /** An agent thinks between two calls, and may ask a person. */
    segment_gap_ms: 300_000,
  },
  /** Calls of one run that may be made speculatively. */
  workflow: { speculation: 0 },
  sharing: { traces: 'shared' },
  /** Milliseconds. Long: what a server keeps only in its memory, such as an open page, goes with its process. */
  idle_stop_ms: 3_600_000,
  sandbox: {
    memory_mb: 128,
    cpu_ms: 10_000,
    wall_ms: 120_000,
    calls_in_flight: 16,
    calls_total: 1_000,
    argument_bytes: 1024 * 1024,
    result_bytes: 4 * 1024 * 1024,
    console_bytes: 64 * 1024,
  },
} as const;

const whole = (min: number, max: number) => z.int().min(min).max(max);
const count = (min: number, max: number, standard: number, what: string) =>
  whole(min, max).default(standard).describe(what);

const toolGlob = z.string().regex(/^\*+$|^[^\s:]+:\S+$/, {
  error: 'must be "*" or server:tool, for example "github:delete_*"',
});
const ownToolGlob = z.string().regex(/^[^\s:]+$/, {
  error: 'must be a tool name without its server, for example "delete_*"',
});
const newName = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, {
  error: 'must be a tool name of letters, digits, "_", "-" and ".", for example "read_sheet"',
});
const postgresUrl = z.string().refine((url) => /^postgres(?:ql)?:\/\/\S+$/.test(url), {
  error: 'must be a URL that starts with postgres://',
});

const hostName = z.string().regex(/^[A-Za-z0-9.-]+(?::\d{1,5})?$/, {
  error: 'must be a host name, optionally with a port, for example "pml.example.com"',
});

const tools = z
  .strictObject({
    include: z
      .array(ownToolGlob)
      .default([...DEFAULTS.server.include])
      .describe('Globs of tool names; only these tools are offered.'),
    exclude: z
      .array(ownToolGlob)
      .default(DEFAULTS.server.exclude)
      .describe('Globs of tool names; these tools are not offered, even if "include" lists them.'),
  })
  .prefault({})
  .describe('Which tools of the server are offered.');

const server = z
  .strictObject({
    type: z
      .enum(['stdio', 'http', 'sse', 'streamable-http'])
      .optional()
      .describe('If absent: stdio for a command, http for a url.'),
    command: text().optional().describe('Program to start; it must speak MCP on stdin and stdout.'),
    args: z.array(z.string()).default(DEFAULTS.server.args).describe('Arguments of the command.'),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe('Additional environment variables. Their values are treated as secrets.'),
    cwd: text().optional().describe('Working directory; relative to this file.'),
    sandbox: z
      .union([
        z.boolean(),
        z.strictObject({
          network: z.boolean().default(false).describe('Whether the server reaches the network.'),
          read: z.array(text()).default([]).describe('Paths it may read; relative to this file.'),
          write: z.array(text()).default([]).describe('Paths it may change; relative to this file.'),
        }),
      ])
      .optional()
      .describe(
        'With command: the server runs in a sandbox (bubblewrap), without network and without files of the user.',
      ),
    url: httpUrl.optional().describe('Address of a server reached over HTTP; with openapi, of the API.'),
    openapi: text()
      .optional()
      .describe('An OpenAPI 3 document, relative to this file: its operations become tools.'),
    origins: z
      .array(httpUrl)
      .optional()
      .describe(
        'With openapi: the addresses that the document may send requests to, for example https://api.example.com; that of url is one of them.',
      ),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('HTTP headers sent with every request. Their values are treated as secrets.'),
    auth,
    credentials: z
      .enum(['shared', 'per_user'])
      .default(DEFAULTS.server.credentials)
      .describe('per_user: each user of the gateway has their own credentials for this server.'),
    isolation: z
      .enum(['shared', 'user', 'session'])
      .default(DEFAULTS.server.isolation)
      .describe(
        'Who shares a process or connection, and with it the state of the server: all, the sessions of one user, or nobody. With session, the server gets the roots of the client.',
      ),
    rename: z
      .record(z.string(), newName)
      .optional()
      .describe("New names for tools, by the server's own name of each."),
    describe: z
      .record(z.string(), z.string())
      .optional()
      .describe("Descriptions that replace those of the server, by the server's own name of each tool."),
    disabled: z.boolean().default(DEFAULTS.server.disabled).describe('Whether PML ignores this server.'),
    tools,
    timeout: whole(100, 86_400_000)
      .default(DEFAULTS.server.timeout)
      .describe('Maximum time without progress during one call, in milliseconds.'),
    concurrency: whole(1, 1024)
      .default(DEFAULTS.server.concurrency)
      .describe('Maximum number of parallel calls; further calls wait.'),
  })
  .meta({
    oneOf: [
      { required: ['command'] },
      { required: ['url'], not: { required: ['openapi'] } },
      { required: ['openapi'] },
    ],
  });

const rules = (what: string) => z.array(toolGlob).default(DEFAULTS.permissions.rules).describe(what);
const permissions = z
  .strictObject({
    allow: rules('Tool ids (globs) that run without asking.'),
    ask: rules('Tool ids (globs) that need approval by a person; overrides allow.'),
    deny: rules('Tool ids (globs) that never run; overrides ask and allow.'),
    auto: rules(
      'Tool ids (globs) that PML may call on its own to fulfil an intent, even if not marked read-only; deny and ask override this.',
    ),
    default: z
      .enum(['allow', 'ask', 'deny'])
      .default(DEFAULTS.permissions.default)
      .describe('Applies to tools without a rule; with allow, the profile may still ask.'),
    profile: z
      .enum(PROFILES)
      .default(DEFAULTS.permissions.profile)
      .describe(
        'What tools without a rule do where the default is allow: open asks about none, balanced about those that cannot be undone, careful about all not marked read-only.',
      ),
    approval_wait_ms: whole(0, 3_600_000)
      .default(DEFAULTS.permissions.approval_wait_ms)
      .describe('How long a run waits for a person before it ends as approval_required.'),
    clients_decide: z
      .boolean()
      .default(DEFAULTS.permissions.clients_decide)
      .describe(
        "Whether an answer in the client's own dialog (elicitation) decides; if false, only operators decide.",
      ),
  })
  .prefault({})
  .describe('Which tools may run: deny overrides ask, ask overrides allow.');

const embedding = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('minilm') }),
    z.strictObject({
      kind: z.literal('transformers'),
      model: text().describe('A model on the Hugging Face Hub, for example Xenova/bge-m3.'),
    }),
    z.strictObject({
      kind: z.literal('openai'),
      url: httpUrl.describe('Address of the API, for example https://api.openai.com/v1.'),
      model: text(),
      dimension: whole(1, 65_536).describe('Dimension of the vectors.'),
      api_key: text().optional(),
    }),
  ])
  .default({ ...DEFAULTS.embedding })
  .describe('The embedding model: minilm is built in; transformers needs @huggingface/transformers.');

const { alerts: told } = DEFAULTS;
const upTo = (most: number) => z.union([z.number().min(0).max(most), z.literal(false)]);
const orOff = (most: number, standard: number, what: string) =>
  upTo(most).default(standard).describe(`${what}; or false.`);
const alerts = z
  .strictObject({
    failure_rate: orOff(1, told.failure_rate, 'Share of failed calls of a tool, of at least ten'),
    p95_ms: orOff(86_400_000, told.p95_ms, 'Milliseconds that one in 20 calls of a tool takes'),
    drift: z.boolean().default(told.drift).describe('Whether a changed tool is an alert.'),
    budget: orOff(1, told.budget, 'Share that a key has used of its limit per hour or per day'),
    waiting_minutes: orOff(525_600, told.waiting, 'Minutes that a call waits for approval'),
    window_minutes: count(1, 1_440, told.window, 'Over which calls are counted.'),
    webhook: safeUrl.optional().describe('Where each alert is sent as JSON, with its sentence in "text".'),
  })
  .prefault({})
  .describe('When PML reports that something is wrong.');

const { sandbox: limits } = DEFAULTS;
const sandbox = z
  .strictObject({
    memory_mb: count(8, 65_536, limits.memory_mb, 'Memory of one program, in megabytes.'),
    cpu_ms: count(1, 3_600_000, limits.cpu_ms, 'CPU time of one program, in milliseconds.'),
    wall_ms: count(1, 86_400_000, limits.wall_ms, 'Wall-clock time of one program, in milliseconds.'),
    calls_in_flight: count(1, 1024, limits.calls_in_flight, 'Maximum number of parallel tool calls.'),
    calls_total: count(0, 1_000_000, limits.calls_total, 'Maximum number of tool calls of one program.'),
    argument_bytes: count(1, 2 ** 30, limits.argument_bytes, 'Maximum size of the arguments of one call.'),
    result_bytes: count(1, 2 ** 30, limits.result_bytes, 'Maximum size of one result.'),
    console_bytes: count(0, 2 ** 30, limits.console_bytes, 'Maximum size of the console output.'),
  })
  .prefault({})
  .describe('Limits for code that agents run.');

const scopeRules = (globs: z.ZodType<string>, what: string) =>
  z
    .strictObject({
      allow: z
        .array(globs)
        .default([...FULL_SCOPE.tools.allow])
        .describe(`Globs of ${what}; only these are offered.`),
      deny: z
        .array(globs)
        .default([...FULL_SCOPE.tools.deny])
        .describe(`Globs of ${what}; these are not, even if "allow" lists them.`),
    })
    .prefault({});

const client = z
  .strictObject({
    lane: z
      .enum(LANES)
      .optional()
      .describe(
        'search: the tools of PML; native: those of the servers; both. If absent, the address decides.',
      ),
    tools: scopeRules(toolGlob, 'tool ids'),
    servers: scopeRules(text(), 'server names'),
  })
  .describe('What this client sees.');

const pml = z
  .strictObject({
    permissions,
    clients: z
      .record(text(), client)
      .default({})
      .describe(
        'What MCP clients see, by the name they give themselves (glob), for example "claude-code"; the first match applies.',
      ),
    record: z
      .record(toolGlob, z.enum(['none', 'metadata', 'full']))
      .default({})
      .describe('How much of a call is stored, by tool id (glob); the first match applies, otherwise full.'),
    embedding,
    store: z
      .strictObject({
        url: postgresUrl
          .optional()
          .describe('A PostgreSQL database; if absent, the embedded one in the data folder.'),
        pool: whole(1, 1_000)
          .default(DEFAULTS.store.pool)
          .describe(
            'Maximum number of PostgreSQL connections, not counting the one for notifications from other gateways.',
          ),
        statement_timeout_ms: whole(100, 3_600_000)
          .default(DEFAULTS.store.statement_timeout_ms)
          .describe('Maximum time of one PostgreSQL statement.'),
        queue_mb: whole(1, 1_048_576)
          .default(DEFAULTS.store.queue_mb)
          .describe('Maximum size of traces buffered on disk while PostgreSQL is unavailable, in megabytes.'),
        wait_ms: whole(0, 86_400_000)
          .default(DEFAULTS.store.wait_ms)
          .describe('How long a starting gateway waits for PostgreSQL.'),
      })
      .prefault({})
      .describe('Where PML stores its data.'),
    retention: z
      .strictObject({
        traces_days: whole(1, 36_500)
          .optional()
          .describe(
            'Days after which raw traces are deleted; what was learned from them stays. If absent, never.',
          ),
      })
      .prefault({})
      .describe('How long raw traces are kept.'),
    alerts,
    http: z
      .strictObject({
        port: count(0, 65_535, DEFAULTS.http.port, '0 takes any free port.'),
        host: text().default(DEFAULTS.http.host).describe('Address to listen on.'),
        hosts: z
          .array(hostName)
          .default(DEFAULTS.http.hosts)
          .describe(
            'Additional host names of the gateway, as browsers and clients send them: pml.example.com, or with a port.',
          ),
        oauth,
      })
      .prefault({})
      .describe('Where pml serve listens.'),
    learning: z
      .strictObject({
        enabled: z.boolean().default(DEFAULTS.learning.enabled).describe('Whether PML learns from runs.'),
        run_from: z
          .number()
          .min(LEAST_CONFIDENCE)
          .max(1)
          .default(DEFAULTS.learning.run_from)
          .describe('Confidence from which a suggested plan may be run for an intent alone; at least .9.'),
        terms: z
          .array(z.enum(OPTIONAL_TERMS))
          .default(DEFAULTS.learning.terms)
          .describe('Optional terms of the ranking model; none improved results on public data.'),
        heads: z
          .union([whole(1, 16), z.literal('adaptive')])
          .default(DEFAULTS.learning.heads)
          .describe('Heads of the ranking model; adaptive: 4, 8 or 12, depending on the number of runs.'),
        alpha: z
          .enum(ALPHA_KINDS)
          .default(DEFAULTS.learning.alpha)
          .describe(
            'Weight of the graph in search: adaptive uses all runs so far, local the graph around the context.',
          ),
        segment_gap_ms: whole(1, 86_400_000)
          .default(DEFAULTS.learning.segment_gap_ms)
          .describe(
            'Maximum milliseconds between two single calls of a session that are learned as one job.',
          ),
      })
      .prefault({})
      .describe('Learning from runs.'),
    workflow: z
      .strictObject({
        speculation: whole(0, 1_000)
          .default(DEFAULTS.workflow.speculation)
          .describe(
            'How many calls of one run may be made speculatively; read-only tools only. 0 turns it off.',
          ),
      })
      .prefault({})
      .describe('Settings for running workflows.'),
    sharing: z
      .strictObject({
        traces: z
          .enum(['private', 'shared'])
          .default(DEFAULTS.sharing.traces)
          .describe(
            'Who may see the content of a run: private means its user and operators, shared means everybody.',
          ),
      })
      .prefault({})
      .describe('What the users of a shared gateway see of each other.'),
    sandbox,
    idle_stop_ms: whole(0, 2_147_483_647)
      .default(DEFAULTS.idle_stop_ms)
      .describe(
        'Milliseconds without a request after which the process of a server is ended; the next request starts it again. 0: never.',
      ),
    templates: text()
      .optional()
      .describe('A templates file that replaces the shipped one; relative to this file.'),
  })
  .prefault({})
  .describe('Settings of PML itself.');

/** The whole file; relations between keys are checked in read-config.ts. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional().describe('For editor support.'),
    mcpServers: z
      .record(z.string(), server)
      .default({})
      .describe('The MCP servers behind the gateway, by name, in the form that MCP clients use.'),
    pml,
  })
  .meta({ title: 'PML configuration' });

export type Config = z.output<typeof configSchema>;
export type ServerConfig = Config['mcpServers'][string];
