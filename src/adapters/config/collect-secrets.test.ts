import { expect, test } from 'vitest';
import { collectSecrets } from './collect-secrets.ts';
import { expandVariables } from './expand-variables.ts';
import { readConfig } from './read-config.ts';

function secretsOf(config: unknown, env: Record<string, string> = {}): string[] {
  const read = readConfig('/x/pml.json', JSON.stringify(config), { env, home: '/home/joe' });
  return collectSecrets(read.config, read.variables).sort();
}
const server = (entry: object) => ({ mcpServers: { a: { command: 'x', ...entry } } });
const remote = (entry: object) => ({ mcpServers: { a: { url: 'https://x', ...entry } } });

test('[CFG-10] variables, env, headers, keys and logins are secrets', () => {
  expect(secretsOf(server({ args: ['${TOKEN}'] }), { TOKEN: 'from-env' })).toEqual(['from-env']);
  expect(secretsOf(server({ env: { API: 'in-env-1' } }))).toEqual(['in-env-1']);
  expect(secretsOf(remote({ headers: { Authorization: 'Bearer abc-def' } }))).toEqual([
    'Bearer abc-def',
    'abc-def',
  ]);
  expect(secretsOf(remote({ auth: { kind: 'bearer', token: 'token-1' } }))).toEqual(['token-1']);
  expect(
    secretsOf(
      remote({ auth: { kind: 'client_credentials', client_id: 'public', client_secret: 'secret-1' } }),
    ),
  ).toEqual(['secret-1']);
  const embedding = { kind: 'openai', url: 'https://x', model: 'm', dimension: 2, api_key: 'key-1234' };
  expect(secretsOf({ pml: { embedding } })).toEqual(['key-1234']);
});

test('[CFG-10] so are passwords, keys and random parts of addresses and arguments', () => {
  const random = 'a1b2c3d4e5f6a7b8c9d0e1';
  expect(secretsOf({ pml: { store: { url: 'postgres://joe:p%40ss-word@db/pml' } } })).toEqual([
    'p%40ss-word',
    'p@ss-word',
  ]);
  expect(secretsOf(remote({ url: `https://x/s/${random}/mcp` }))).toEqual([random]);
  expect(secretsOf(remote({ url: 'https://x/mcp?exaApiKey=key-12&page=twenty-one' }))).toEqual(['key-12']);
  expect(
    secretsOf(
      server({
        args: ['--token', 'token-1', '--api-key=key-123', '--name', 'harmless', 'postgres://u:pass-1@h/d'],
      }),
    ),
  ).toEqual(['key-123', 'pass-1', 'token-1']);
  expect(secretsOf(server({ env: { DB: 'postgres://u:pass-1@h/d' } }))).toEqual([
    'pass-1',
    'postgres://u:pass-1@h/d',
  ]);
});

test('[CFG-18] values that would mask too much in every trace are not secrets: short and common words, paths, plain addresses', () => {
  const env = {
    DEBUG: 'true',
    SHORT: 'abc',
    NODE_ENV: 'production',
    STAGE: 'Production',
    ROOT: '/home/joe/projects',
    BASE: 'https://api.example.com/v1',
    AWS_REGION: 'eu-central-1',
    POSTGRES_DB: 'customers',
    PASSWORD: 'hunter2',
    DB_HOST: 'joe:hunter3@db',
  };
  expect(secretsOf(server({ env }))).toEqual(['hunter2', 'joe:hunter3@db']);
  expect(
    secretsOf(server({ args: ['${HOME}/x', '${USER}'] }), { HOME: '/home/joseph', USER: 'joseph' }),
  ).toEqual([]);
  expect(secretsOf(remote({ headers: { Accept: 'application/json', 'User-Agent': 'agent/1.0' } }))).toEqual(
    [],
  );
});

const source = {
  env: { A: 'one', EMPTY: '', 'ProgramFiles(x86)': 'C:\\P' },
  predefined: { userHome: '/home/joe' },
};

test.each([
  ['${A}', 'one'],
  ['${env:A}', 'one'],
  ['-${A}-${A}-', '-one-one-'],
  ['${A:-two}', 'one'],
  ['${NO:-two}', 'two'],
  ['${env:NO:-two}', 'two'],
  ['${NO:-}', ''],
  ['${NO:-http://x:1/}', 'http://x:1/'],
  ['${EMPTY}', ''],
  ['${EMPTY:-two}', 'two'],
  ['${env:ProgramFiles(x86)}', 'C:\\P'],
  ['${userHome}/x', '/home/joe/x'],
  ['$A $ {A} $$ {}', '$A $ {A} $$ {}'],
  ['$${A}', '${A}'],
  ['$${anything at all}', '${anything at all}'],
])('[CFG-4] %s becomes %j', (text, expanded) => {
  expect(expandVariables(text, source)).toMatchObject({ text: expanded, problems: [] });
});

test.each([
  '${NO}',
  '${env:NO}',
  '${}',
  '${A B}',
  '${A-x}',
  '${env.A}',
  '${input:key}',
  '${command:x}',
  '${toString}',
])('[CFG-4] %s is reported and stays as it is', (text) => {
  const { text: expanded, problems, used } = expandVariables(text, source);
  expect(expanded).toBe(text);
  expect(problems).toMatchObject([{ written: text }]);
  expect(used).toEqual([]);
});

test('[CFG-4] a value is not expanded again', () => {
  const env = { OUTER: '${INNER}', INNER: 'x' };
  expect(expandVariables('${OUTER}', { env, predefined: {} }).text).toBe('${INNER}');
});

test('[CFG-10] values from the environment are remembered, values written in the file are not', () => {
  const { used } = expandVariables('${A} ${NO:-two} ${userHome}', source);
  expect(used).toEqual([{ name: 'A', value: 'one' }]);
});
