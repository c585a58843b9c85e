import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { treeOf } from '../../../test/architecture/tree-of.ts';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import { FULL_SCOPE } from '../../core/vocabulary/principal.ts';
import { dataDir } from './find-config.ts';
import { distrustConfig, loadSettings, trustConfig } from './load-settings.ts';
import { DEFAULTS } from './schema.ts';

const port = (number: number) => JSON.stringify({ pml: { http: { port: number } } });

describe('where the file is looked for', () => {
  test('[CFG-1] named by option, by PML_CONFIG, here, in the data folder, in this order', async () => {
    const root = await treeOf({
      'option.json': port(1),
      'variable.json': port(2),
      'here/pml.json': port(3),
      'home/.pml/pml.json': port(4),
      'data/pml.json': port(5),
    });
    const cwd = join(root, 'here');
    const home = join(root, 'home');
    const env = { PML_CONFIG: '../variable.json' };
    const portOf = async (source: Partial<Parameters<typeof loadSettings>[0]>) =>
      (await loadSettings({ env: {}, cwd, home, ...source })).http.port;

    expect(await portOf({ file: '../option.json', env })).toBe(1);
    expect(await portOf({ env })).toBe(2);
    await trustConfig({ env: {}, cwd, home });
    expect(await portOf({ env: { PML_CONFIG: '' } })).toBe(3);
    expect(await portOf({ cwd: root })).toBe(4);
    expect(await portOf({ cwd: root, env: { PML_DATA: 'data' } })).toBe(5);
    expect(await portOf({ cwd: root, data: join(root, 'data'), env: { PML_DATA: 'nowhere' } })).toBe(5);
  });

  test('[CFG-1] without any file the defaults apply', async () => {
    const cwd = await temporaryDir();
    const settings = await loadSettings({ env: {}, cwd, home: cwd });
    expect(settings).toEqual({
      file: null,
      servers: [],
      permissions: {
        allow: [],
        ask: [],
        deny: [],
        auto: [],
        default: 'allow',
        profile: 'balanced',
        approvalWaitMs: DEFAULTS.permissions.approval_wait_ms,
        clientsDecide: false,
      },
      clients: [],
      record: [{ tools: '*', keep: 'full' }],
      embedding: { kind: 'minilm' },
      store: { url: null, pool: 8, statementTimeoutMs: 30_000, queueBytes: 256 * 2 ** 20, waitMs: 60_000 },
      alerts: {
        failureRate: 0.5,
        latencyMs: 30_000,
        drift: true,
        budget: 0.9,
        waitingMs: 600_000,
        windowMs: 3_600_000,
        webhook: null,
      },
      retention: { tracesDays: null },
      http: { port: 8080, host: '127.0.0.1', hosts: [] },
      sharing: { traces: 'shared' },
      learning: {
        enabled: true,
        runFrom: 0.9,
        model: { terms: [], heads: 8 },
        alpha: 'adaptive',
        segmentGapMs: 300_000,
      },
      workflow: { speculation: 0 },
      sandbox: expect.objectContaining({ memoryMb: DEFAULTS.sandbox.memory_mb }),
      templates: null,
      secrets: [],
    });
    await writeFile(join(cwd, 'pml.json'), '{}');
    await trustConfig({ env: {}, cwd, home: cwd });
    expect(await loadSettings({ env: {}, cwd, home: cwd })).toEqual({
      ...settings,
      file: join(cwd, 'pml.json'),
      isFound: true,
    });
  });

  test('[CFG-12] a file found in the current folder applies only once it is trusted, and only unchanged', async () => {
    const root = await treeOf({ 'here/pml.json': port(3), 'home/.pml/pml.json': port(4) });
    const cwd = join(root, 'here');
    const file = join(cwd, 'pml.json');
    const source = { env: {}, cwd, home: join(root, 'home') };
    const untrusted = { code: 'config_untrusted', hint: expect.stringContaining(`pml trust ${file}`) };

    await expect(loadSettings(source)).rejects.toMatchObject(untrusted);
    // A file named with --config counts as reviewed.
    expect((await loadSettings({ ...source, file })).http.port).toBe(3);
    expect((await loadSettings({ ...source, env: { PML_CONFIG: file } })).http.port).toBe(3);
    // The data folder is the user's own, also where it is the current one.
    expect((await loadSettings({ ...source, cwd: join(root, 'home', '.pml') })).http.port).toBe(4);

    await trustConfig(source);
    expect((await loadSettings(source)).http.port).toBe(3);
    await writeFile(file, port(5));
    await expect(loadSettings(source)).rejects.toMatchObject({
      ...untrusted,
      message: expect.stringContaining('has changed since it was trusted'),
    });
    await trustConfig(source);
    expect((await loadSettings(source)).http.port).toBe(5);
    await distrustConfig(source);
    await expect(loadSettings(source)).rejects.toMatchObject(untrusted);
  });

  test('[CFG-13] a file that is named explicitly must exist', async () => {
    const cwd = await temporaryDir();
    const missing = { code: 'config_not_found', message: expect.stringContaining(join(cwd, 'no.json')) };
    await expect(loadSettings({ file: 'no.json', env: {}, cwd })).rejects.toMatchObject(missing);
    await expect(loadSettings({ env: { PML_CONFIG: 'no.json' }, cwd })).rejects.toMatchObject(missing);
  });

  test('[CFG-1] the data folder: option, PML_DATA, ~/.pml', () => {
    const cwd = '/places/here';
    expect(dataDir({ env: { PML_DATA: '/elsewhere' }, cwd, data: 'mine' })).toBe('/places/here/mine');
    expect(dataDir({ env: { PML_DATA: '../x' }, cwd })).toBe('/places/x');
    expect(dataDir({ env: {}, cwd, home: '/home/joe' })).toBe('/home/joe/.pml');
  });
});

describe('unusual configuration files', () => {
  test('[CFG-14] a folder, a dangling link and an unreadable file give different errors', async () => {
    const cwd = await temporaryDir();
    const at = (name: string) => loadSettings({ file: name, env: {}, cwd });
    await mkdir(join(cwd, 'folder.json'));
    await symlink('nowhere', join(cwd, 'dangling.json'));
    await symlink('loop.json', join(cwd, 'loop.json'));
    await expect(at('folder.json')).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${join(cwd, 'folder.json')} is a folder, not a configuration file`,
    });
    await expect(at('dangling.json')).rejects.toMatchObject({ code: 'config_not_found' });
    await expect(at('loop.json')).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('cannot be read (ELOOP)'),
    });
    await symlink('nowhere', join(cwd, 'pml.json'));
    await expect(loadSettings({ env: {}, cwd, home: cwd })).rejects.toMatchObject({
      code: 'config_not_found',
    });
  });

  test('[CFG-3] UTF-8 with a byte order mark and UTF-16 are read', async () => {
    const cwd = await temporaryDir();
    await writeFile(join(cwd, 'bom.json'), `\ufeff${port(7)}`);
    await writeFile(join(cwd, 'wide.json'), Buffer.from(`\ufeff${port(8)}`, 'utf16le'));
    expect((await loadSettings({ file: 'bom.json', env: {}, cwd })).http.port).toBe(7);
    expect((await loadSettings({ file: 'wide.json', env: {}, cwd })).http.port).toBe(8);
  });
});

test('[CFG-2] every key of pml.json reaches the settings', async () => {
  const root = await treeOf({
    'conf/pml.json': `// a comment
    {
      "$schema": "../pml.schema.json",
      "mcpServers": {
        "files": {
          "command": "npx", "args": ["-y", "server", "\${DATA_ROOT}"], "env": { "KEY": "\${FILES_KEY}" },
          "cwd": "work", "disabled": true, "timeout": 5000, "concurrency": 2,
          "tools": { "include": ["read_*"], "exclude": ["read_secret"] },
          "isolation": "session", "rename": { "read_file": "read" }, "describe": { "read_file": "Reads a file" },
        },
        "web": { "url": "https://example.com/mcp", "headers": { "X-Key": "k-123456" } },
        "old": { "type": "sse", "url": "https://example.com/sse", "auth": { "kind": "bearer", "token": "t-123456" } },
        "team": {
          "type": "streamable-http", "url": "https://example.com/2",
          "auth": { "kind": "client_credentials", "client_id": "me", "client_secret": "s-123456",
                    "scope": "a b", "issuer": "https://login.example.com" },
        },
        "signing": { "url": "https://example.com/5", "auth": { "kind": "client_credentials", "client_id": "me", "private_key_file": "key.pem", "algorithm": "ES256", "dpop": true } },
        "company": { "url": "https://example.com/6", "auth": { "kind": "enterprise", "client_id": "me", "scope": "s", "issuer": "https://as.example.com",
          "idp": { "issuer": "https://idp.example.com", "token_url": "https://idp.example.com/t", "client_id": "us", "client_secret": "idp-123456", "id_token_file": "id.jwt" } } },
        "pod": { "url": "https://example.com/7", "auth": { "kind": "workload", "client_id": "me", "token_file": "/var/run/token" } },
        "person": { "url": "https://example.com/3", "credentials": "per_user", "auth": { "kind": "authorization_code", "client_id": "me" } },
      },
      "pml": {
        "permissions": { "allow": ["files:*"], "ask": ["*:write_*"], "deny": ["*:delete_*"], "auto": ["files:append"],
                         "default": "ask", "profile": "careful", "approval_wait_ms": 1000, "clients_decide": false },
        "clients": { "claude-*": { "lane": "native", "tools": { "deny": ["*:delete_*"] } } },
        "record": { "files:*": "metadata", "*:secret_*": "none" },
        "embedding": { "kind": "openai", "url": "https://api.example.com/v1", "model": "m",
                       "dimension": 64, "api_key": "a-123456" },
        "store": { "url": "postgres://joe:p-123456@db/pml", "pool": 3, "statement_timeout_ms": 5000, "queue_mb": 7, "wait_ms": 100 },
        "alerts": {
          "failure_rate": 0.2, "p95_ms": false, "drift": false, "budget": 0.5, "waiting_minutes": 0,
          "window_minutes": 5, "webhook": "https://chat.example.com/hooks/abc"
        },
        "retention": { "traces_days": 90 },
        "http": { "port": 0, "host": "0.0.0.0", "hosts": ["pml.example.com"] },
        "sharing": { "traces": "private" },
        "learning": { "enabled": false, "run_from": 0.95, "terms": ["set_attention"], "heads": "adaptive", "alpha": "local", "segment_gap_ms": 90000 },
        "workflow": { "speculation": 8 },
        "sandbox": { "memory_mb": 64, "cpu_ms": 1, "wall_ms": 2, "calls_in_flight": 3, "calls_total": 4,
                     "argument_bytes": 5, "result_bytes": 6, "console_bytes": 7 },
        "idle_stop_ms": 1000,
        "templates": "~/templates.yaml",
      },
    }`,
  });
  const settings = await loadSettings({
    file: 'conf/pml.json',
    env: { DATA_ROOT: '/srv/data', FILES_KEY: 'f-123456' },
    cwd: root,
    home: '/home/joe',
  });
  const usual = {
    disabled: false,
    timeoutMs: 60_000,
    concurrency: 8,
    tools: { include: ['*'], exclude: [] },
    headers: {},
  };
  expect(settings).toEqual({
    file: join(root, 'conf/pml.json'),
    servers: [
      {
        name: 'files',
        transport: 'stdio',
        command: 'npx',
        args: ['-y', 'server', '/srv/data'],
        env: { KEY: 'f-123456' },
        cwd: join(root, 'conf/work'),
        disabled: true,
        timeoutMs: 5000,
        concurrency: 2,
        tools: { include: ['read_*'], exclude: ['read_secret'] },
        idleStopMs: 1000,
        isolation: 'session',
        rename: { read_file: 'read' },
        describe: { read_file: 'Reads a file' },
        folders: [join(root, 'conf/work')],
      },
      {
        ...usual,
        name: 'web',
        transport: 'http',
        url: 'https://example.com/mcp',
        headers: { 'X-Key': 'k-123456' },
      },
      {
        ...usual,
        name: 'old',
        transport: 'sse',
        url: 'https://example.com/sse',
        auth: { kind: 'bearer', token: 't-123456' },
      },
      {
        ...usual,
        name: 'team',
        transport: 'http',
        url: 'https://example.com/2',
        auth: {
          kind: 'client_credentials',
          clientId: 'me',
          clientSecret: 's-123456',
          scope: 'a b',
          issuer: 'https://login.example.com',
        },
      },
      {
        ...usual,
        name: 'signing',
        transport: 'http',
        url: 'https://example.com/5',
        auth: {
          kind: 'client_credentials',
          clientId: 'me',
          privateKey: { file: join(root, 'conf/key.pem'), algorithm: 'ES256' },
          dpop: true,
        },
      },
      {
        ...usual,
        name: 'company',
        transport: 'http',
        url: 'https://example.com/6',
        auth: {
          kind: 'enterprise',
          clientId: 'me',
          scope: 's',
          issuer: 'https://as.example.com',
          idp: {
            issuer: 'https://idp.example.com',
            tokenUrl: 'https://idp.example.com/t',
            clientId: 'us',
            clientSecret: 'idp-123456',
            idTokenFile: join(root, 'conf/id.jwt'),
          },
        },
      },
      {
        ...usual,
        name: 'pod',
        transport: 'http',
        url: 'https://example.com/7',
        auth: { kind: 'workload', clientId: 'me', tokenFile: '/var/run/token' },
      },
      {
        ...usual,
        name: 'person',
        credentials: 'per_user',
        transport: 'http',
        url: 'https://example.com/3',
        auth: { kind: 'authorization_code', clientId: 'me' },
      },
    ],
    permissions: {
      allow: ['files:*'],
      ask: ['*:write_*'],
      deny: ['*:delete_*'],
      auto: ['files:append'],
      default: 'ask',
      profile: 'careful',
      approvalWaitMs: 1000,
      clientsDecide: false,
    },
    clients: [
      {
        name: 'claude-*',
        scope: { ...FULL_SCOPE, lane: 'native', tools: { allow: ['*'], deny: ['*:delete_*'] } },
      },
    ],
    record: [
      { tools: 'files:*', keep: 'metadata' },
      { tools: '*:secret_*', keep: 'none' },
      { tools: '*', keep: 'full' },
    ],
    embedding: {
      kind: 'openai',
      url: 'https://api.example.com/v1',
      model: 'm',
      dimension: 64,
      apiKey: 'a-123456',
    },
    store: {
      url: 'postgres://joe:p-123456@db/pml',
      pool: 3,
      statementTimeoutMs: 5_000,
      queueBytes: 7 * 2 ** 20,
      waitMs: 100,
    },
    alerts: {
      failureRate: 0.2,
      latencyMs: null,
      drift: false,
      budget: 0.5,
      waitingMs: 0,
      windowMs: 300_000,
      webhook: 'https://chat.example.com/hooks/abc',
    },
    retention: { tracesDays: 90 },
    http: { port: 0, host: '0.0.0.0', hosts: ['pml.example.com'] },
    sharing: { traces: 'private' },
    learning: {
      enabled: false,
      runFrom: 0.95,
      model: { terms: ['set_attention'], heads: 'adaptive' },
      alpha: 'local',
      segmentGapMs: 90_000,
    },
    workflow: { speculation: 8 },
    sandbox: {
      memoryMb: 64,
      cpuMs: 1,
      wallMs: 2,
      callsInFlight: 3,
      callsTotal: 4,
      argumentBytes: 5,
      resultBytes: 6,
      consoleBytes: 7,
    },
    templates: '/home/joe/templates.yaml',
    secrets: expect.arrayContaining(['f-123456', 'k-123456', 't-123456', 's-123456', 'a-123456', 'p-123456']),
  });
});

describe('OAuth', () => {
  const load = async (oauth: unknown) => {
    const root = await treeOf({ 'pml.json': JSON.stringify({ pml: { http: { oauth } } }) });
    const { http } = await loadSettings({ env: {}, cwd: root, home: root, file: 'pml.json' });
    return http;
  };

  test('[OAUTH-21] the address of the gateway becomes one of its host names', async () => {
    expect(await load({ url: 'https://pml.example.com/' })).toEqual({
      port: 8080,
      host: '127.0.0.1',
      hosts: ['pml.example.com'],
      oauth: { url: 'https://pml.example.com' },
    });
    const issuer = { url: 'https://login.example.com', users: { ada: 'ada-agent' } };
    expect((await load({ url: 'http://127.0.0.1:8080', issuer })).oauth?.issuer).toEqual({
      ...issuer,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      userClaim: 'sub',
      scopes: [],
    });
  });

  test('[OAUTH-21] an unsafe address and an algorithm with a shared key are refused', async () => {
    const issuer = { url: 'https://login.example.com', users: {} };
    for (const wrong of [
      {},
      { url: 'http://pml.example.com' },
      { url: 'https://pml.example.com/gateway' },
      { url: 'https://pml.example.com?x=1' },
      { url: 'pml.example.com' },
      { url: 'https://pml.example.com', issuer: { ...issuer, url: 'http://login.example.com' } },
      { url: 'https://pml.example.com', issuer: { ...issuer, jwks_url: 'http://login.example.com/keys' } },
      { url: 'https://pml.example.com', issuer: { ...issuer, algorithms: ['HS256'] } },
      { url: 'https://pml.example.com', issuer: { ...issuer, algorithms: ['none'] } },
      { url: 'https://pml.example.com', issuer: { ...issuer, algorithms: [] } },
      { url: 'https://pml.example.com', issuer: { url: issuer.url } },
    ])
      await expect(load(wrong), JSON.stringify(wrong)).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

test('[OAS-4] an API may be reached at the addresses of its url and origins; its document is found beside the file', async () => {
  const root = await treeOf({
    'pml.json': JSON.stringify({
      mcpServers: {
        shop: {
          openapi: 'apis/shop.json',
          url: 'https://shop.example/v1?key=${KEY}',
          origins: ['https://more.example/ignored', 'https://shop.example:443'],
          headers: { 'X-Key': '${KEY}' },
        },
        unset: { openapi: 'a.json', origins: ['${NOT_SET}'] },
      },
    }),
  });
  const env = { KEY: 'k-1234567890' };
  const settings = await loadSettings({ file: join(root, 'pml.json'), env, cwd: root, home: root });
  expect(settings.servers).toMatchObject([
    {
      transport: 'openapi',
      document: join(root, 'apis/shop.json'),
      url: 'https://shop.example/v1?key=k-1234567890',
      origins: ['https://more.example', 'https://shop.example'],
      headers: { 'X-Key': 'k-1234567890' },
    },
    { name: 'unset', disabled: true, disabledReason: expect.stringContaining('NOT_SET') },
  ]);
  expect(settings.secrets).toContain('k-1234567890');
});
