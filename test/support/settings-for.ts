import type { ServerSettings, Settings } from '../../src/engine/ports.ts';

/** The settings of a user who configured only these servers. */
export function settingsFor(names: readonly string[], over: Partial<Settings> = {}): Settings {
  return {
    file: null,
    servers: names.map((name) => stdioServer(name)),
    permissions: {
      allow: [],
      ask: [],
      deny: [],
      auto: [],
      default: 'allow',
      profile: 'balanced',
      approvalWaitMs: 100,
      clientsDecide: false,
    },
    record: [{ tools: '*', keep: 'full' }],
    embedding: { kind: 'minilm' },
    store: { url: null, pool: 4, statementTimeoutMs: 30_000, queueBytes: 2 ** 20, waitMs: 0 },
    retention: { tracesDays: null },
    alerts: {
      failureRate: 0.5,
      latencyMs: 30_000,
      drift: true,
      budget: 0.9,
      waitingMs: 600_000,
      windowMs: 3_600_000,
      webhook: null,
    },
    http: { port: 0, host: '127.0.0.1', hosts: [] },
    learning: { enabled: true },
    workflow: { speculation: 0 },
    sharing: { traces: 'shared' },
    sandbox: {
      memoryMb: 128,
      // A program that a busy machine does not compile in time takes far longer than it should.
      cpuMs: 20_000,
      wallMs: 60_000,
      callsInFlight: 8,
      callsTotal: 100,
      argumentBytes: 1_000_000,
      resultBytes: 1_000_000,
      consoleBytes: 10_000,
    },
    templates: null,
    secrets: [],
    ...over,
  };
}

export function stdioServer(name: string, over: Partial<ServerSettings> = {}): ServerSettings {
  return {
    name,
    transport: 'stdio',
    command: 'unused',
    args: [],
    env: {},
    cwd: null,
    disabled: false,
    tools: { include: ['*'], exclude: [] },
    timeoutMs: 5_000,
    concurrency: 8,
    ...over,
  } as ServerSettings;
}
