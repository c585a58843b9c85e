import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { loadSettings } from './load-settings.ts';
import { configJsonSchema, type JsonSchema, readConfig } from './read-config.ts';
import { configSchema, DEFAULTS } from './schema.ts';

const home = '/home/joe';

function problemsOf(text: string, { file = '/x/pml.json', env = {} } = {}): string[] {
  try {
    readConfig(file, text, { env, home });
  } catch (error) {
    expect(error).toBeInstanceOf(PmlError);
    const { code, message, hint } = error as PmlError;
    expect(code).toBe('config_invalid');
    expect(hint).toBeTruthy();
    const lines = message.split('\n');
    if (lines.length === 1) return lines;
    expect(lines[0]).toBe(`${file} has ${lines.length - 1} problems:`);
    return lines.slice(1);
  }
  return [];
}

const serversOf = (text: string, { file = '/x/mcp.json', env = {} } = {}) =>
  readConfig(file, text, { env, home }).config.mcpServers;

describe('text', () => {
  test('[CFG-3] comments and trailing commas are fine', () => {
    expect(problemsOf('{ // one\n /* two */ "pml": { "http": { "port": 1, }, }, }')).toEqual([]);
  });

  test.each([
    ['', '/x/pml.json:1:1 the file is empty; write {} to use the defaults'],
    [' \n\t', '/x/pml.json:1:1 the file is empty; write {} to use the defaults'],
    ['// nothing', '/x/pml.json:1:11 not JSON: a value is missing'],
    ['[]', '/x/pml.json:1:1 must be an object: { … }'],
    ['"x"', '/x/pml.json:1:1 must be an object: { … }'],
    ['mcpServers:\n  a: b', '/x/pml.json:1:1 not JSON: unknown word; put text in double quotes'],
    ['{\n  "pml": {}\n  "mcpServers": {}\n}', '/x/pml.json:3:3 not JSON: a "," is missing'],
    ['{\r\n\r\n  "pml" {}\r\n}', '/x/pml.json:3:9 not JSON: a ":" is missing'],
    ['{ "pml": {}', '/x/pml.json:1:12 not JSON: a "}" is missing'],
    ['{ "a": "b\n" }', '/x/pml.json:1:8 not JSON: unclosed string'],
  ])('[CFG-14] text that is not JSON is refused with its place: %j', (text, problem) => {
    expect(problemsOf(text)[0]).toBe(problem);
  });

  test('[CFG-14] JSON nested too deeply is refused with its place', () => {
    const problem = 'nested too deeply; the maximum is 100 levels';
    expect(problemsOf(`{ "a": ${'['.repeat(20_000)}`)).toEqual([`/x/pml.json:1:107 ${problem}`]);
    expect(problemsOf(`${'{"a":'.repeat(20_000)}1`)).toEqual([`/x/pml.json:1:501 ${problem}`]);
  });

  test('[CFG-14] a duplicate key is refused, so that no value is lost silently', () => {
    const text = '{ "mcpServers": {\n "a": { "command": "x" },\n "a": { "command": "y" } } }';
    expect(problemsOf(text)).toEqual(['/x/pml.json:3:2 mcpServers.a appears twice; keep one of them']);
  });
});

describe('unknown keys and bad values', () => {
  test('[CFG-5] all problems are reported at once, each with line, column and the nearest key', () => {
    const text = `{
  "mcpServer": {},
  "permissions": {},
  "mcpServers": {
    "a": { "comand": "npx" },
    "b": { "command": "npx", "args": "x", "timeout": 30 },
    "c": { "url": "ftp://example.com", "tools": { "exclude": ["c:x"] } },
    "d": []
  },
  "pml": {
    "permisions": {},
    "permissions": { "approvalWaitMs": 1, "deny": ["delete_*"], "profile": "carefull" },
    "record": { "files": "all" },
    "embedding": { "kind": "openai", "modle": "m", "url": "https://x", "dimension": 1.5 },
    "http": { "port": "80", "host": "" },
    "store": { "url": "mysql://x" },
    "sandbox": { "memory_mb": 1, "quux": true },
    "templates": 3
  }
}`;
    expect(problemsOf(text)).toEqual([
      '/x/pml.json:2:3 mcpServer is not a known key; did you mean "mcpServers"?',
      '/x/pml.json:3:3 permissions is not a known key; did you mean "permissions" under "pml"?',
      '/x/pml.json:5:12 mcpServers.a.comand is not a known key; did you mean "command"?',
      '/x/pml.json:6:38 mcpServers.b.args must be a list: [ … ]',
      '/x/pml.json:6:54 mcpServers.b.timeout must be at least 100',
      '/x/pml.json:7:19 mcpServers.c.url must be a URL that starts with http:// or https://',
      '/x/pml.json:7:63 mcpServers.c.tools.exclude[0] must be a tool name without its server, for example "delete_*"',
      '/x/pml.json:8:10 mcpServers.d must be an object: { … }',
      '/x/pml.json:11:5 pml.permisions is not a known key; did you mean "permissions"?',
      '/x/pml.json:12:22 pml.permissions.approvalWaitMs is not a known key; did you mean "approval_wait_ms"?',
      '/x/pml.json:12:52 pml.permissions.deny[0] must be "*" or server:tool, for example "github:delete_*"',
      '/x/pml.json:12:76 pml.permissions.profile must be one of "open", "balanced", "careful"; did you mean "careful"?',
      '/x/pml.json:13:17 pml.record.files must be "*" or server:tool, for example "github:delete_*"',
      '/x/pml.json:14:18 pml.embedding.model is missing',
      '/x/pml.json:14:38 pml.embedding.modle is not a known key; did you mean "model"?',
      '/x/pml.json:14:85 pml.embedding.dimension must be a whole number',
      '/x/pml.json:15:23 pml.http.port must be a number',
      '/x/pml.json:15:37 pml.http.host must not be empty',
      '/x/pml.json:16:23 pml.store.url must be a URL that starts with postgres://',
      '/x/pml.json:17:31 pml.sandbox.memory_mb must be at least 8',
      '/x/pml.json:17:34 pml.sandbox.quux is not a known key; known here: memory_mb, cpu_ms, wall_ms, calls_in_flight, calls_total, argument_bytes, result_bytes, console_bytes',
      '/x/pml.json:18:18 pml.templates must be a string in double quotes',
    ]);
  });

  test('[CFG-5] of several kinds, only the keys of the chosen one are suggested', () => {
    const chosen = '{ "pml": { "embedding": { "kind": "minilm", "modle": "m" } } }';
    expect(problemsOf(chosen)).toEqual([
      '/x/pml.json:1:45 pml.embedding.modle is not a known key; known here: kind',
    ]);
    expect(problemsOf('{ "pml": { "embedding": { "kind": "open-ai" } } }')).toEqual([
      '/x/pml.json:1:35 pml.embedding.kind must be one of "minilm", "transformers", "openai"; did you mean "openai"?',
    ]);
    expect(problemsOf('{ "pml": { "embedding": {} } }')).toEqual([
      '/x/pml.json:1:25 pml.embedding.kind must be one of "minilm", "transformers", "openai"',
    ]);
  });

  test('[CFG-7] invalid server names and options that do not fit together are refused', () => {
    const text = `{ "mcpServers": {
  "my server": { "command": "x" },
  "code": { "command": "x" },
  "both": { "command": "x", "url": "https://x" },
  "none": {},
  "stray": { "command": "x", "headers": {} },
  "strayed": { "url": "https://x", "env": {} },
  "type": { "command": "x", "type": "http" },
  "twice": { "url": "https://x", "headers": { "authorization": "y" }, "auth": { "kind": "bearer", "token": "z" } }
} }`;
    expect(problemsOf(text)).toEqual([
      '/x/pml.json:2:3 mcpServers."my server" is not a valid server name; use letters, digits, "_", "-" and "." ("code" and "capability" are reserved)',
      '/x/pml.json:3:3 mcpServers.code is not a valid server name; use letters, digits, "_", "-" and "." ("code" and "capability" are reserved)',
      '/x/pml.json:4:29 mcpServers.both.url cannot be combined with "command"; keep one of them',
      '/x/pml.json:5:11 mcpServers.none needs "command" (a program to start) or "url" (a server to reach)',
      '/x/pml.json:6:30 mcpServers.stray.headers is only valid for servers with "url"',
      '/x/pml.json:7:36 mcpServers.strayed.env is only valid for servers with "command"',
      '/x/pml.json:8:29 mcpServers.type.type is only valid for servers with "url"; remove or fix it',
      '/x/pml.json:9:71 mcpServers.twice.auth cannot be combined with an Authorization header; keep one of them',
    ]);
    const apis = `{ "mcpServers": {
  "nowhere": { "openapi": "a.json" },
  "both": { "openapi": "a.json", "command": "x" },
  "typed": { "openapi": "a.json", "url": "https://x", "type": "sse", "auth": { "kind": "authorization_code" } },
  "stray": { "url": "https://x", "origins": ["https://y"] }
} }`;
    expect(problemsOf(apis)).toEqual([
      '/x/pml.json:2:14 mcpServers.nowhere needs "url" or "origins" beside "openapi": the addresses that the document may send requests to',
      '/x/pml.json:3:13 mcpServers.both.openapi cannot be combined with "command"; keep one of them',
      '/x/pml.json:4:55 mcpServers.typed.type cannot be combined with "openapi"; remove it',
      '/x/pml.json:4:70 mcpServers.typed.auth can only be of kind "bearer" with "openapi"',
      '/x/pml.json:5:34 mcpServers.stray.origins is only valid for servers with "openapi"',
    ]);
    const proofs = `{ "mcpServers": {
  "neither": { "url": "https://x", "auth": { "kind": "client_credentials", "client_id": "i" } },
  "both": { "url": "https://x", "auth": { "kind": "client_credentials", "client_id": "i", "client_secret": "s", "private_key_file": "k" } }
} }`;
    const needs = 'needs "client_secret" or "private_key_file", and not both';
    expect(problemsOf(proofs)).toEqual([
      `/x/pml.json:2:44 mcpServers.neither.auth ${needs}`,
      `/x/pml.json:3:41 mcpServers.both.auth ${needs}`,
    ]);
    expect(problemsOf('{ "mcpServers": { "__proto__": { "command": "x" } } }')[0]).toContain(
      'is not a valid server name',
    );
  });
});

describe('variables', () => {
  test('[CFG-15] an unset variable is refused with file, place, name and what to do', () => {
    const text =
      '{ "mcpServers": { "a": {\n "command": "x", "env": { "T": "Bearer ${A_TOKEN} ${OTHER}" } } } }';
    expect(problemsOf(text, { env: { OTHER: 'x' } })).toEqual([
      '/x/pml.json:2:40 mcpServers.a.env.T uses the variable A_TOKEN, which is not set; set it before PML starts, or write ${A_TOKEN:-default}',
    ]);
  });

  test('[CFG-15] an unset variable in a disabled server does no harm', () => {
    const text =
      '{ "mcpServers": { "a": { "disabled": true, "command": "x", "args": ["${NO}", "${YES}"] } } }';
    expect(serversOf(text, { env: { YES: 'yes' } }).a?.args).toEqual(['${NO}', 'yes']);
  });

  test('[CFG-4] variables work in every text', () => {
    const text =
      '{ "pml": { "http": { "host": "${HOST}" }, "store": { "url": "${env:DB:-postgres://local}" } } }';
    const { config } = readConfig('/x/pml.json', text, { env: { HOST: '::1' }, home });
    expect(config.pml.http.host).toBe('::1');
    expect(config.pml.store.url).toBe('postgres://local');
  });
});

describe('files of other clients', () => {
  test.each([
    ['mcpServers (Claude, Cursor, Windsurf, …)', '{ "mcpServers": SERVERS, "globalShortcut": "x" }'],
    ['servers (VS Code mcp.json)', '{ "inputs": [], "servers": SERVERS }'],
    ['mcp.servers (VS Code settings)', '{ "editor.fontSize": 12, "mcp": { "servers": SERVERS } }'],
    ['"mcp.servers" (VS Code settings, dotted)', '{ "mcp.servers": SERVERS }'],
  ])('[CFG-2] %s', (_, form) => {
    const servers =
      '{ "a": { "type": "stdio", "command": "npx", "args": ["x"] }, "b": { "url": "https://x/y" } }';
    expect(serversOf(form.replace('SERVERS', servers))).toMatchObject({
      a: { command: 'npx', args: ['x'] },
      b: { url: 'https://x/y' },
    });
    const wrong = form.replace('SERVERS', '{ "a": { "command": 3 } }');
    expect(problemsOf(wrong, { file: '/x/mcp.json' })).toEqual([
      expect.stringMatching(/^\/x\/mcp\.json:1:\d+ \S+\.a\.command must be a string/),
    ]);
  });

  test('[CFG-6] unknown keys are ignored in the file of a client, and refused in pml.json', () => {
    const text = `{ "mcpServers": { "a": {
      "command": "npx", "alwaysAllow": ["x"], "gallery": true, "timeout": 60, "cwd": null, "env": { "PORT": 3000 }
    } } }`;
    expect(serversOf(text).a).toMatchObject({ command: 'npx', timeout: 60_000, env: { PORT: '3000' } });
    expect(problemsOf(text)).toHaveLength(5);
    expect(problemsOf(text.replace('{ "mcp', '{ "pml": {}, "mcp'), { file: '/x/team.json' })).toHaveLength(5);
    const named = text.replace('{ "mcp', '{ "$schema": "./pml.schema.json", "mcp');
    expect(problemsOf(named, { file: '/x/team.json' })).toHaveLength(5);
  });

  test("[CFG-6] problems in the client's own keys are ignored", () => {
    const text =
      '{ "mcpServers": { "a": { "command": "x", "note": "${NOT_SET}", "x": { "y": 1, "y": 2 } } } }';
    expect(problemsOf(text, { file: '/x/mcp.json' })).toEqual([]);
  });

  test('[CFG-16] disabled servers, tool limits and registered OAuth clients carry over', () => {
    const servers = serversOf(`{ "mcpServers": {
      "off": { "command": "x", "disabled": true },
      "off2": { "command": "x", "enabled": false },
      "copilot": { "type": "local", "command": "x", "tools": ["read"] },
      "gemini": { "httpUrl": "https://x", "includeTools": ["a"], "excludeTools": ["b"] },
      "windsurf": { "serverUrl": "https://x", "disabledTools": ["c"] },
      "ours": { "type": "sse", "url": "https://x", "tools": { "exclude": ["d"] } },
      "cursor": { "url": "https://x", "auth": { "CLIENT_ID": "i", "CLIENT_SECRET": "s", "scopes": ["p", "q"] } },
      "claude": { "url": "https://x", "oauth": { "clientId": "i", "callbackPort": 1, "scopes": "p q" } }
    } }`);
    expect(servers.off?.disabled).toBe(true);
    expect(servers.off2?.disabled).toBe(true);
    expect(servers.copilot?.tools).toEqual({ include: ['read'], exclude: [] });
    expect(servers.gemini).toMatchObject({ url: 'https://x', tools: { include: ['a'], exclude: ['b'] } });
    expect(servers.windsurf).toMatchObject({ url: 'https://x', tools: { include: ['*'], exclude: ['c'] } });
    expect(servers.ours).toMatchObject({ type: 'sse', tools: { exclude: ['d'] } });
    const oauth = { kind: 'authorization_code', client_id: 'i', scope: 'p q' };
    expect(servers.cursor?.auth).toEqual({ ...oauth, client_secret: 's' });
    expect(servers.claude?.auth).toEqual(oauth);
  });

  test('[CFG-4] variables that editors define are resolved, values that editors ask for are refused', () => {
    const text =
      '{ "servers": { "a": { "command": "${userHome}/bin", "args": ["${workspaceFolder}${/}b"] } } }';
    expect(serversOf(text, { file: '/places/app/.vscode/mcp.json' }).a).toMatchObject({
      command: '/home/joe/bin',
      args: ['/places/app/b'],
    });
    const asks = '{ "servers": { "a": { "command": "x", "env": { "K": "${input:key}" } } } }';
    expect(problemsOf(asks, { file: '/x/mcp.json' })).toEqual([
      '/x/mcp.json:1:54 servers.a.env.K asks the editor for a value; use an environment variable instead: ${NAME}',
    ]);
  });

  test('[CFG-17] a file without servers, or with a misspelt "pml", does not count as empty', () => {
    const file = '/x/team.json';
    expect(problemsOf('{ "theme": "dark" }', { file })).toEqual([
      '/x/team.json:1:1 needs one of the keys "pml", "mcpServers" or "servers"',
    ]);
    expect(problemsOf('{ "mcpServers": {}, "plm": { "permissions": { "deny": ["*"] } } }', { file })).toEqual(
      ['/x/team.json:1:21 plm is not a known key; did you mean "pml"?'],
    );
    expect(problemsOf('{}', { file })).toEqual([]);
  });
});

describe('secrets in errors', () => {
  test('[CFG-8] no error shows a value of the file or of the environment', () => {
    const text = `{
      "mcpServers": {
        "a": { "command": ["hush-command"], "env": { "K": 1234567, "L": "\${HUSH}" }, "headers": { "A": "hush-header" } },
        "b": { "url": "hush-url://x", "auth": { "kind": "hush-kind", "token": "hush-token" } },
        "c": { "url": "https://x?key=hush-query", "auth": { "kind": "bearer", "tokn": "hush-auth" } },
        "hush-from-env !": { "command": "x" },
        "d": { "command": "x", "ghp_abcdefghijklmnopqrstuvwxyz": "hush-key", "\${HUSH}": "hush" }
      },
      "pml": {
        "permissions": { "deny": ["hush glob"], "default": "hush-default" },
        "store": { "url": "hush-store" },
        "embedding": { "kind": "openai", "api_key": ["hush-api"] },
        "http": { "port": "hush-port", "hush-from-env": 1 }
      }
    }`;
    const problems = problemsOf(text, { env: { HUSH: 'hush-from-env' } }).join('\n');
    expect(problems.split('\n').length).toBeGreaterThan(12);
    expect(problems).not.toMatch(/hush-|hush glob|1234567|ghp_abc/);
  });

  test('[CFG-8] an error about text that is not JSON shows none either', () => {
    for (const text of [
      '{ "token": "hush-hush',
      '{ token: hush-hush }',
      'TOKEN=hush-hush',
      '{ "a": hush-hush, "b": "\\hush-hush" }',
    ]) {
      const problems = problemsOf(text);
      expect(problems.length).toBeGreaterThan(0);
      expect(problems.join()).not.toContain('hush-hush');
    }
  });
});

const fromRoot = (path: string) => new URL(`../../../${path}`, import.meta.url);

test('[CFG-9] pml.schema.json matches the code; otherwise run npm run build:schema', async () => {
  expect(await readFile(fromRoot('pml.schema.json'), 'utf8')).toBe(
    `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  );
});

test('[CFG-9] editors see the default that really applies', () => {
  const { properties } = configJsonSchema().properties!.pml!;
  const applied = configSchema.parse({}).pml;
  expect(applied.sandbox).toEqual(DEFAULTS.sandbox);
  for (const section of ['http', 'sandbox', 'learning', 'permissions'] as const) {
    for (const [key, schema] of Object.entries(properties![section]!.properties!)) {
      expect(schema.default, `${section}.${key}`).toEqual(applied[section][key as never]);
      expect(schema.description, `${section}.${key}`).toBeTruthy();
    }
  }
});

test('[CFG-9] docs/configure.md names every key and its default', async () => {
  const lines = (await readFile(fromRoot('docs/configure.md'), 'utf8')).split('\n');
  const keys: string[] = [];
  const visit = (schema: JsonSchema) => {
    for (const one of [schema, ...(schema.oneOf ?? [])]) {
      for (const [key, below] of Object.entries(one.properties ?? {})) {
        keys.push(key);
        const naming = lines.filter((line) => line.includes(`\`${key}\``));
        expect(naming, key).not.toEqual([]);
        // On a line that names the key: a number alone stands somewhere on every page.
        if (typeof below.default === 'number') expect(naming.join('\n'), key).toContain(`${below.default}`);
        visit(below);
      }
      if (typeof one.additionalProperties === 'object') visit(one.additionalProperties);
    }
  };
  visit(configJsonSchema());
  expect(keys).toContain('statement_timeout_ms');
});

test('[CFG-9] the example loads', async () => {
  const file = fromRoot('examples/pml.json').pathname;
  const settings = await loadSettings({
    file,
    env: { GITHUB_TOKEN: 'token-1' },
    cwd: '/',
    home: '/home/joe',
  });
  expect(settings.servers.length).toBeGreaterThan(1);
  expect(settings.secrets).toContain('token-1');
});
