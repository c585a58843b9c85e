import { z } from 'zod';
import { ALPHA_KINDS } from '../../core/graph/alpha.ts';
import { OPTIONAL_TERMS } from '../../core/learning/ranker/model-choice.ts';
import { LEAST_CONFIDENCE } from '../../core/policy/decide.ts';

/** Every default of the configuration; the published JSON Schema shows the same. */
export const DEFAULTS = {
  server: {
    disabled: false,
    credentials: 'shared',
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
    profile: 'standard',
    /** Below the 60 s after which MCP clients usually give a request up. */
    approval_wait_ms: 45_000,
    /** What a client declares is its own word: an agent that is its own client would approve its own calls. */
    clients_decide: false,
  },
  /** What is kept of a call that no rule of `record` names. */
  record: 'full',
  embedding: { kind: 'minilm' },
  store: { pool: 8, statement_timeout_ms: 30_000, queue_mb: 256, wait_ms: 60_000 },
  http: { port: 8080, host: '127.0.0.1', hosts: [] as string[] },
  learning: {
    enabled: true,
    run_from: LEAST_CONFIDENCE,
    terms: [] as (typeof OPTIONAL_TERMS)[number][],
    heads: 8,
    alpha: 'adaptive',
  },
  /** Calls of one run that may be made ahead of their turn. */
  workflow: { speculation: 0 },
  sharing: { traces: 'shared' },
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

const text = () => z.string().min(1);
const whole = (min: number, max: number) => z.int().min(min).max(max);

const toolGlob = z.string().regex(/^\*+$|^[^\s:]+:\S+$/, {
  error: 'must be "*" or name server and tool, for example "github:delete_*"',
});
const ownToolGlob = z.string().regex(/^[^\s:]+$/, {
  error: 'must be the name of a tool without its server, for example "delete_*"',
});
// Checked after variables are filled in, so the published schema must let `${VAR}` pass: no pattern.
const httpUrl = z.string().refine((url) => /^https?:\/\/\S+$/.test(url) && URL.canParse(url), {
  error: 'must be a URL that starts with http:// or https://',
});
const postgresUrl = z.string().refine((url) => /^postgres(?:ql)?:\/\/\S+$/.test(url), {
  error: 'must be a URL that starts with postgres://',
});

const hostName = z.string().regex(/^[A-Za-z0-9.-]+(?::\d{1,5})?$/, {
  error: 'must be the name of a host, with its port if it has one, for example "pml.example.com"',
});

const tools = z
  .strictObject({
    include: z
      .array(ownToolGlob)
      .default([...DEFAULTS.server.include])
      .describe('Globs on the names of its tools; only these are offered.'),
    exclude: z
      .array(ownToolGlob)
      .default(DEFAULTS.server.exclude)
      .describe('Globs on the names of its tools; these are not offered, even when included.'),
  })
  .prefault({})
  .describe('Which tools of the server are offered.');

const oauthScope = text().optional().describe('OAuth scopes, separated by spaces.');
const auth = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('bearer'), token: text().describe('Sent as a bearer token.') }),
    z.strictObject({
      kind: z.literal('client_credentials'),
      client_id: text(),
      client_secret: text(),
      scope: oauthScope,
      issuer: httpUrl.optional().describe('The only authorization server these credentials may go to.'),
    }),
    z.strictObject({
      kind: z.literal('authorization_code'),
      client_id: text().optional().describe('Absent: PML registers itself.'),
      client_secret: text().optional(),
      scope: oauthScope,
    }),
  ])
  .optional()
  .describe('How PML proves itself to the server, besides headers.');

const server = z
  .strictObject({
    type: z
      .enum(['stdio', 'http', 'sse', 'streamable-http'])
      .optional()
      .describe('Absent: stdio with a command, http with a url.'),
    command: text().optional().describe('Program to start; it must speak MCP on stdin and stdout.'),
    args: z.array(z.string()).default(DEFAULTS.server.args).describe('Its arguments.'),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe('Environment variables added for it. Their values are treated as secrets.'),
    cwd: text().optional().describe('Working directory; relative to this file.'),
    url: httpUrl.optional().describe('Address of a server reached over HTTP.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('HTTP headers sent with every request. Their values are treated as secrets.'),
    auth,
    credentials: z
      .enum(['shared', 'per_user'])
      .default(DEFAULTS.server.credentials)
      .describe('per_user: each user of the gateway reaches it with credentials of their own.'),
    disabled: z.boolean().default(DEFAULTS.server.disabled).describe('Kept in the file, but not used.'),
    tools,
    timeout: whole(100, 86_400_000)
      .default(DEFAULTS.server.timeout)
      .describe('Maximum time without a sign of life during one call, in milliseconds.'),
    concurrency: whole(1, 1024)
      .default(DEFAULTS.server.concurrency)
      .describe('Maximum number of parallel calls; more wait.'),
  })
  .meta({ oneOf: [{ required: ['command'] }, { required: ['url'] }] });

const rules = (what: string) => z.array(toolGlob).default(DEFAULTS.permissions.rules).describe(what);
const permissions = z
  .strictObject({
    allow: rules('Tool ids (globs) that run without asking.'),
    ask: rules('Tool ids (globs) that need approval by a person; overrides allow.'),
    deny: rules('Tool ids (globs) that never run; overrides ask and allow.'),
    auto: rules(
      'Tool ids (globs) that PML may call by itself for an intent alone, even if they are not marked read-only; deny and ask override this.',
    ),
    default: z
      .enum(['allow', 'ask', 'deny'])
      .default(DEFAULTS.permissions.default)
      .describe('For tools without a rule; tools that declare themselves destructive still need approval.'),
    profile: z
      .enum(['standard', 'careful'])
      .default(DEFAULTS.permissions.profile)
      .describe('careful turns a default of allow into ask for every tool not marked read-only.'),
    approval_wait_ms: whole(0, 3_600_000)
      .default(DEFAULTS.permissions.approval_wait_ms)
      .describe('How long a run waits for a person before it ends as approval_required.'),
    clients_decide: z
      .boolean()
      .default(DEFAULTS.permissions.clients_decide)
      .describe(
        "Whether an answer in the client's own dialogue (elicitation) decides; if false, only operators decide.",
      ),
  })
  .prefault({})
  .describe('What may run: deny overrides ask, ask overrides allow.');

const embedding = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('minilm') }),
    z.strictObject({
      kind: z.literal('transformers'),
      model: text().describe('A model of the Hugging Face hub, for example Xenova/bge-m3.'),
    }),
    z.strictObject({
      kind: z.literal('openai'),
      url: httpUrl.describe('Address of the API, for example https://api.openai.com/v1.'),
      model: text(),
      dimension: whole(1, 65_536).describe('Dimension of its vectors.'),
      api_key: text().optional(),
    }),
  ])
  .default({ ...DEFAULTS.embedding })
  .describe(
    'What turns text into vectors: minilm is built in; transformers needs @huggingface/transformers.',
  );

const { sandbox: limits } = DEFAULTS;
const sandbox = z
  .strictObject({
    memory_mb: whole(8, 65_536).default(limits.memory_mb).describe('Memory of one program, in megabytes.'),
    cpu_ms: whole(1, 3_600_000).default(limits.cpu_ms).describe('CPU time of one program.'),
    wall_ms: whole(1, 86_400_000).default(limits.wall_ms).describe('Time from start to end of one program.'),
    calls_in_flight: whole(1, 1024)
      .default(limits.calls_in_flight)
      .describe('Maximum number of parallel tool calls.'),
    calls_total: whole(0, 1_000_000)
      .default(limits.calls_total)
      .describe('Maximum number of tool calls of one program.'),
    argument_bytes: whole(1, 2 ** 30)
      .default(limits.argument_bytes)
      .describe('Arguments of one call.'),
    result_bytes: whole(1, 2 ** 30)
      .default(limits.result_bytes)
      .describe('Result of one call or program.'),
    console_bytes: whole(0, 2 ** 30)
      .default(limits.console_bytes)
      .describe('What one program may print.'),
  })
  .prefault({})
  .describe('Limits of the code that agents run.');

const pml = z
  .strictObject({
    permissions,
    record: z
      .record(toolGlob, z.enum(['none', 'metadata', 'full']))
      .default({})
      .describe('What is stored of calls, by tool id (glob); the first match applies, else full.'),
    embedding,
    store: z
      .strictObject({
        url: postgresUrl
          .optional()
          .describe('A PostgreSQL database; absent: the embedded one in the data folder.'),
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
      .describe('Where PML keeps its memory.'),
    retention: z
      .strictObject({
        traces_days: whole(1, 36_500)
          .optional()
          .describe('Days after which raw traces go; what was learned from them stays. Absent: never.'),
      })
      .prefault({})
      .describe('How long raw traces are kept.'),
    http: z
      .strictObject({
        port: whole(0, 65_535).default(DEFAULTS.http.port).describe('0 takes any free port.'),
        host: text().default(DEFAULTS.http.host).describe('Address to listen on.'),
        hosts: z
          .array(hostName)
          .default(DEFAULTS.http.hosts)
          .describe(
            'Additional host names of the gateway, as browsers and clients send them: pml.example.com, or with a port.',
          ),
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
          .describe(
            'What the ranking model adds to features and heads; none was measured to help on public data.',
          ),
        heads: z
          .union([whole(1, 16), z.literal('adaptive')])
          .default(DEFAULTS.learning.heads)
          .describe('Heads of the ranking model; adaptive: 4, 8 or 12 by the number of runs.'),
        alpha: z
          .enum(ALPHA_KINDS)
          .default(DEFAULTS.learning.alpha)
          .describe('How search weighs the graph: by what runs have shown in all, or around the context.'),
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
      .describe('Running plans.'),
    sharing: z
      .strictObject({
        traces: z
          .enum(['private', 'shared'])
          .default(DEFAULTS.sharing.traces)
          .describe(
            'Who may see the content of a run: private is for its user and operators, shared for everybody.',
          ),
      })
      .prefault({})
      .describe('What people who share a gateway see of each other.'),
    sandbox,
    templates: text()
      .optional()
      .describe('A templates file that replaces the shipped one; relative to this file.'),
  })
  .prefault({})
  .describe('Settings of PML itself.');

/** The whole file; what holds between keys is checked in check-servers.ts. */
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
