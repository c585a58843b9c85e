import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { findNodeAtLocation, getNodeValue } from 'jsonc-parser';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { FULL_SCOPE } from '../../core/vocabulary/principal.ts';
import type { ServerSettings, Settings } from '../../engine/ports.ts';
import { recogniseForm } from './client-form.ts';
import { collectSecrets } from './collect-secrets.ts';
import {
  type ConfigSource,
  dataDir,
  findConfig,
  requireTrust,
  revokeTrust,
  trustFile,
} from './find-config.ts';
import { readConfig } from './read-config.ts';
import { type Config, configSchema, DEFAULTS, type ServerConfig } from './schema.ts';
import { parseSource } from './source-text.ts';
import { decodeText } from './text-file.ts';

const require = createRequire(import.meta.url);

/** Files in the demo's scratch folder. */
const FILES: Readonly<Record<string, string>> = {
  'people.json': `${JSON.stringify(
    [
      { name: 'Ada', role: 'engineer', years: 12 },
      { name: 'Grace', role: 'admiral', years: 40 },
      { name: 'Linus', role: 'engineer', years: 33 },
    ],
    null,
    2,
  )}\n`,
  'notes/monday.md': '# Monday\n\nMoved the search index to the new machine. Two tests still flicker.\n',
  'notes/tuesday.md': '# Tuesday\n\nThe flicker was a clock: tests now bring their own.\n',
};

/**
 * Finds, reads and validates the configuration; without a file the defaults apply. A file found in the
 * current folder must be trusted, with exactly the bytes read here.
 */
export async function loadSettings(source: ConfigSource): Promise<Settings> {
  const home = source.home ?? homedir();
  const found = await findConfig(source);
  const { file, isFound } = found ?? { file: null, isFound: false };
  const origin = { file, isFound, cwd: source.cwd, home };
  if (file === null) return toSettings(configSchema.parse({}), { ...origin, secrets: [] });
  const bytes = await readConfigFile(file);
  if (isFound) await requireTrust(dataDir(source), file, bytes);
  const environment = { env: source.env, home, unset: 'disable' } as const;
  const { config, variables, unset } = readConfig(file, decodeText(bytes).text, environment);
  return toSettings(config, { ...origin, secrets: collectSecrets(config, variables) }, unset);
}

async function readConfigFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw unreadable(file, cause as NodeJS.ErrnoException);
  }
}

function unreadable(file: string, cause: NodeJS.ErrnoException): PmlError {
  switch (cause.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new PmlError('config_not_found', `Configuration file ${file} not found`, {
        hint: 'Check --config and PML_CONFIG, or create the file with: pml init',
        cause,
      });
    case 'EISDIR':
      return new PmlError('config_invalid', `${file} is a folder, not a configuration file`, {
        hint: 'Name a file in it, for example --config folder/pml.json',
        cause,
      });
    default:
      return new PmlError('config_invalid', `The configuration file ${file} cannot be read (${cause.code})`, {
        hint: 'Make sure that it is a file and that you may read it.',
        cause,
      });
  }
}

/** Trusts a file as it is now; returns the programs and addresses it names, with variables unexpanded. */
export async function trustConfig(source: ConfigSource) {
  const file = fileOf(source);
  const bytes = await readConfigFile(file);
  const { root } = parseSource(file, decodeText(bytes).text);
  await trustFile(dataDir(source), file, bytes);
  const holder = findNodeAtLocation(root, recogniseForm(file, root).servers ?? ['mcpServers']);
  const entries: unknown = holder && getNodeValue(holder);
  const servers = Object.entries(entries ?? {}).map(([name, entry]) => ({ name, runs: runsOf(entry) }));
  return { file, servers };
}

/** Returns the file, and whether it was trusted. */
export async function distrustConfig(source: ConfigSource) {
  const file = fileOf(source);
  return { file, wasTrusted: await revokeTrust(dataDir(source), file) };
}

function fileOf({ file, cwd }: ConfigSource): string {
  return file === undefined ? join(cwd, 'pml.json') : resolve(cwd, file);
}

function runsOf(
  entry: { command?: unknown; args?: unknown; url?: unknown; openapi?: unknown; origins?: unknown } | null,
): string {
  const { command, args, url, openapi, origins } = entry ?? {};
  const places = openapi === undefined ? [url] : [openapi, url, origins].flat();
  const words = command === undefined ? places : [command, ...(Array.isArray(args) ? args : [])];
  return words
    .filter((word) => word !== undefined)
    .map(String)
    .join(' ');
}

/**
 * Attaches the four reference servers to a scratch folder, with a real configuration file that users can
 * read.
 */
export async function prepareDemo(dataDir: string): Promise<Settings> {
  const scratch = join(dataDir, 'files');
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(scratch, name)), { recursive: true });
    await writeFile(join(scratch, name), content);
  }
  const file = join(dataDir, 'pml.json');
  const mcpServers = {
    filesystem: { ...(await server('filesystem', [scratch])), cwd: scratch },
    memory: { ...(await server('memory')), env: { MEMORY_FILE_PATH: join(dataDir, 'memory.jsonl') } },
    everything: await server('everything'),
    thinking: await server('sequential-thinking'),
  };
  // The folder is scratch, so writing there needs no approval. Deleting asks, so that there is something to decide.
  const pml = { permissions: { allow: ['filesystem:write_file'], ask: ['memory:delete_*'] } };
  await writeFile(file, `${JSON.stringify({ mcpServers, pml }, null, 2)}\n`);
  return await loadSettings({ file, env: {}, cwd: dataDir });
}

/** The servers come with PML and are started by path, so nothing is downloaded. */
async function server(name: string, args: readonly string[] = []) {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
  const program = Object.values(bin)[0] ?? '';
  return { command: process.execPath, args: [join(dirname(manifest), program), ...args] };
}

interface Origin {
  readonly file: string | null;
  readonly isFound: boolean;
  readonly cwd: string;
  readonly home: string;
  readonly secrets: readonly string[];
}

/** Converts the file's snake_case to the settings the rest of PML uses. */
function toSettings(
  { mcpServers, pml }: Config,
  origin: Origin,
  unset: ReadonlyMap<string, string> = new Map(),
): Settings {
  const path = (text: string) => resolvePath(text, origin);
  const { permissions, sandbox } = pml;
  return {
    file: origin.file,
    ...(origin.isFound && { isFound: true }),
    servers: Object.entries(mcpServers).map(([name, server]) =>
      toServer(name, server, {
        path,
        here: origin.cwd,
        unset: unset.get(name),
        idleStopMs: pml.idle_stop_ms,
      }),
    ),
    permissions: {
      allow: permissions.allow,
      ask: permissions.ask,
      deny: permissions.deny,
      auto: permissions.auto,
      default: permissions.default,
      profile: permissions.profile,
      approvalWaitMs: permissions.approval_wait_ms,
      clientsDecide: permissions.clients_decide,
    },
    clients: Object.entries(pml.clients).map(([name, { lane = null, tools, servers }]) => ({
      name,
      scope: { ...FULL_SCOPE, tools, servers, lane },
    })),
    record: [
      ...Object.entries(pml.record).map(([tools, keep]) => ({ tools, keep })),
      { tools: '*', keep: DEFAULTS.record },
    ],
    embedding: toEmbedding(pml.embedding),
    store: {
      url: pml.store.url ?? null,
      pool: pml.store.pool,
      statementTimeoutMs: pml.store.statement_timeout_ms,
      queueBytes: pml.store.queue_mb * 1024 * 1024,
      waitMs: pml.store.wait_ms,
    },
    retention: { tracesDays: pml.retention.traces_days ?? null },
    alerts: {
      failureRate: pml.alerts.failure_rate || null,
      latencyMs: pml.alerts.p95_ms || null,
      drift: pml.alerts.drift,
      budget: pml.alerts.budget || null,
      waitingMs: pml.alerts.waiting_minutes === false ? null : pml.alerts.waiting_minutes * 60_000,
      windowMs: pml.alerts.window_minutes * 60_000,
      webhook: pml.alerts.webhook ?? null,
    },
    http: toHttp(pml.http),
    learning: {
      enabled: pml.learning.enabled,
      runFrom: pml.learning.run_from,
      model: { terms: pml.learning.terms, heads: pml.learning.heads },
      alpha: pml.learning.alpha,
      segmentGapMs: pml.learning.segment_gap_ms,
    },
    workflow: pml.workflow,
    sharing: pml.sharing,
    sandbox: {
      memoryMb: sandbox.memory_mb,
      cpuMs: sandbox.cpu_ms,
      wallMs: sandbox.wall_ms,
      callsInFlight: sandbox.calls_in_flight,
      callsTotal: sandbox.calls_total,
      argumentBytes: sandbox.argument_bytes,
      resultBytes: sandbox.result_bytes,
      consoleBytes: sandbox.console_bytes,
    },
    templates: pml.templates === undefined ? null : path(pml.templates),
    secrets: origin.secrets,
  };
}

interface ServerSurroundings {
  readonly path: (text: string) => string;
  /** The folder that PML runs in. */
  readonly here: string;
  /** Which variable it uses that is not set. */
  readonly unset: string | undefined;
  readonly idleStopMs: number;
}

function toServer(
  name: string,
  server: ServerConfig,
  { path, here, unset, idleStopMs }: ServerSurroundings,
): ServerSettings {
  const base = {
    name,
    disabled: server.disabled || unset !== undefined,
    ...(unset !== undefined && { disabledReason: `Server "${name}" is disabled: it ${unset}` }),
    tools: server.tools,
    ...(server.isolation !== 'shared' && { isolation: server.isolation }),
    ...(server.rename && { rename: server.rename }),
    ...(server.describe && { describe: server.describe }),
    timeoutMs: server.timeout,
    concurrency: server.concurrency,
    ...(server.credentials === 'per_user' && { credentials: server.credentials }),
  };
  if (server.command !== undefined) {
    const cwd = server.cwd === undefined ? null : path(server.cwd);
    const { command, args, env } = server;
    const idle = idleStopMs > 0 && { idleStopMs };
    const sandbox = toSandbox(server.sandbox, path);
    return {
      ...base,
      transport: 'stdio',
      command,
      args,
      env,
      cwd,
      folders: [cwd ?? here],
      ...idle,
      ...sandbox,
    };
  }
  if (server.openapi !== undefined) {
    const { url = null, origins = [], headers, auth } = server;
    const places = [...origins, ...(url === null ? [] : [url])].map((place) => new URL(place).origin);
    const token = auth?.kind === 'bearer' && { auth };
    const document = path(server.openapi);
    return { ...base, transport: 'openapi', document, url, origins: [...new Set(places)], headers, ...token };
  }
  return {
    ...base,
    transport: server.type === 'sse' ? 'sse' : 'http',
    url: server.url!,
    headers: server.headers,
    ...(server.auth && { auth: toAuth(server.auth, path) }),
  };
}

function toHttp({ port, host, hosts, oauth }: Config['pml']['http']): Settings['http'] {
  if (!oauth) return { port, host, hosts };
  const url = new URL(oauth.url);
  const { issuer } = oauth;
  return {
    port,
    host,
    hosts: [...hosts, url.host],
    oauth: { url: url.origin, ...(issuer && { issuer: toIssuer(issuer) }) },
  };
}

type IssuerConfig = NonNullable<NonNullable<Config['pml']['http']['oauth']>['issuer']>;

function toIssuer({ url, jwks_url, audience, algorithms, user_claim, scopes, users }: IssuerConfig) {
  return {
    url,
    ...(jwks_url !== undefined && { jwksUrl: jwks_url }),
    ...(audience !== undefined && { audience }),
    algorithms,
    userClaim: user_claim,
    scopes,
    users,
  };
}

function toSandbox(sandbox: ServerConfig['sandbox'], path: (text: string) => string) {
  if (!sandbox) return {};
  const { network, read, write } = sandbox === true ? { network: false, read: [], write: [] } : sandbox;
  return { sandbox: { network, read: read.map(path), write: write.map(path) } };
}

type ServerAuth = NonNullable<Extract<ServerSettings, { transport: 'http' | 'sse' }>['auth']>;

function toAuth(auth: NonNullable<ServerConfig['auth']>, path: (text: string) => string): ServerAuth {
  if (auth.kind === 'bearer') return auth;
  const { scope, dpop, client_secret: clientSecret } = { client_secret: undefined, ...auth };
  const common = {
    ...(clientSecret !== undefined && { clientSecret }),
    ...(scope !== undefined && { scope }),
    ...(dpop && { dpop }),
  };
  if (auth.kind === 'authorization_code') {
    const { kind, client_id: clientId } = auth;
    return { kind, ...(clientId !== undefined && { clientId }), ...common };
  }
  const client = { clientId: auth.client_id, ...common, ...(auth.issuer && { issuer: auth.issuer }) };
  if (auth.kind === 'client_credentials') {
    const { kind, private_key_file: file, algorithm } = auth;
    return { kind, ...client, ...(file !== undefined && { privateKey: { file: path(file), algorithm } }) };
  }
  if (auth.kind === 'workload') return { kind: auth.kind, ...client, tokenFile: path(auth.token_file) };
  const { issuer, token_url: tokenUrl, id_token_file: file } = auth.idp;
  const { client_id: clientId, client_secret: secret } = auth.idp;
  const idp = {
    issuer,
    ...(tokenUrl !== undefined && { tokenUrl }),
    clientId,
    ...(secret !== undefined && { clientSecret: secret }),
    ...(file !== undefined && { idTokenFile: path(file) }),
  };
  return { kind: auth.kind, ...client, idp };
}

function toEmbedding(embedding: Config['pml']['embedding']): Settings['embedding'] {
  if (embedding.kind !== 'openai') return embedding;
  const { kind, url, model, dimension, api_key: apiKey = null } = embedding;
  return { kind, url, model, dimension, apiKey };
}

/** Resolved against the file's folder, so that it does not depend on where PML is started. */
function resolvePath(path: string, { file, cwd, home }: Origin): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return resolve(file === null ? cwd : dirname(file), path);
}
