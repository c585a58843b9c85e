import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { configJsonSchema, type JsonSchema } from './explain-issue.ts';
import { loadSettings } from './load-settings.ts';
import { configSchema, DEFAULTS } from './schema.ts';

const fromRoot = (path: string) => new URL(`../../../${path}`, import.meta.url);

test('[CFG-9] pml.schema.json is what the code says; else run npm run build:schema', async () => {
  expect(await readFile(fromRoot('pml.schema.json'), 'utf8')).toBe(
    `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  );
});

test('[CFG-9] editors see the default that applies', () => {
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
