import { dirname, join, resolve } from 'node:path';
import type { ServerSettings, Settings } from '../../engine/ports.ts';
import { type Config, DEFAULTS, type ServerConfig } from './schema.ts';

interface Origin {
  readonly file: string | null;
  readonly isFound: boolean;
  readonly cwd: string;
  readonly home: string;
  readonly secrets: readonly string[];
}

/** From the file's snake_case to what the rest of PML reads. */
export function toSettings({ mcpServers, pml }: Config, origin: Origin): Settings {
  const path = (text: string) => resolvePath(text, origin);
  const { permissions, sandbox } = pml;
  return {
    file: origin.file,
    ...(origin.isFound && { isFound: true }),
    servers: Object.entries(mcpServers).map(([name, server]) => toServer(name, server, path)),
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
    http: pml.http,
    learning: {
      enabled: pml.learning.enabled,
      runFrom: pml.learning.run_from,
      model: { terms: pml.learning.terms, heads: pml.learning.heads },
      alpha: pml.learning.alpha,
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

function toServer(name: string, server: ServerConfig, path: (text: string) => string): ServerSettings {
  const base = {
    name,
    disabled: server.disabled,
    tools: server.tools,
    timeoutMs: server.timeout,
    concurrency: server.concurrency,
    ...(server.credentials === 'per_user' && { credentials: server.credentials }),
  };
  if (server.command !== undefined) {
    const cwd = server.cwd === undefined ? null : path(server.cwd);
    return { ...base, transport: 'stdio', command: server.command, args: server.args, env: server.env, cwd };
  }
  return {
    ...base,
    transport: server.type === 'sse' ? 'sse' : 'http',
    url: server.url!,
    headers: server.headers,
    ...(server.auth && { auth: toAuth(server.auth) }),
  };
}

type ServerAuth = NonNullable<Extract<ServerSettings, { transport: 'http' | 'sse' }>['auth']>;

function toAuth(auth: NonNullable<ServerConfig['auth']>): ServerAuth {
  if (auth.kind === 'bearer') return auth;
  const scope = auth.scope === undefined ? {} : { scope: auth.scope };
  if (auth.kind === 'client_credentials') {
    const { kind, client_id: clientId, client_secret: clientSecret, issuer } = auth;
    return { kind, clientId, clientSecret, ...scope, ...(issuer !== undefined && { issuer }) };
  }
  return {
    kind: auth.kind,
    ...(auth.client_id !== undefined && { clientId: auth.client_id }),
    ...(auth.client_secret !== undefined && { clientSecret: auth.client_secret }),
    ...scope,
  };
}

function toEmbedding(embedding: Config['pml']['embedding']): Settings['embedding'] {
  if (embedding.kind !== 'openai') return embedding;
  const { kind, url, model, dimension, api_key: apiKey = null } = embedding;
  return { kind, url, model, dimension, apiKey };
}

/** Relative to the file, so that it means the same from wherever PML is started. */
function resolvePath(path: string, { file, cwd, home }: Origin): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return resolve(file === null ? cwd : dirname(file), path);
}
