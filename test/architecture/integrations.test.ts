import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as parseToml } from 'smol-toml';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { OPERATIONS } from '../../src/operations/table.ts';
import { runCommand } from '../support/command-line.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const json = (path: string) => JSON.parse(read(path));
const PACKAGE = json('package.json');

/** What a client reads of a Markdown file before its text. */
function frontMatter(path: string): Record<string, string> {
  return parseYaml(/^---\n([\s\S]*?)\n---\n/.exec(read(path))![1]!);
}

const CLAUDE = 'integrations/claude-code';
const GEMINI = 'integrations/gemini-cli';

test('[PACK-6] the manifests have the version of the package and start a command that exists', async () => {
  expect(json(`${CLAUDE}/.claude-plugin/plugin.json`)).toMatchObject({
    name: 'pml',
    version: PACKAGE.version,
  });
  expect(json(`${GEMINI}/gemini-extension.json`)).toMatchObject({ name: 'pml', version: PACKAGE.version });
  for (const { source } of json('.claude-plugin/marketplace.json').plugins)
    expect(existsSync(join(ROOT, source, '.claude-plugin/plugin.json'))).toBe(true);
  const entries = [json(`${CLAUDE}/.mcp.json`), json(`${GEMINI}/gemini-extension.json`)];
  for (const { mcpServers } of entries) {
    const [, name, ...args] = mcpServers.pml.args;
    expect(mcpServers.pml.command).toBe('npx');
    expect([PACKAGE.name, Object.keys(PACKAGE.bin)]).toEqual([name, expect.arrayContaining([name])]);
    expect((await runCommand([...args, '--help'], {})).code).toBe(0);
  }
  // Claude Code would hide the tools for searching until its model searches for them.
  expect(entries[0].mcpServers.pml.alwaysLoad).toBe(true);
});

test('[PACK-6] skills and commands can be read, and name only tools that PML has', () => {
  expect(frontMatter(`${CLAUDE}/skills/use-pml/SKILL.md`)).toMatchObject({
    name: 'use-pml',
    description: expect.stringMatching(/^.{50,1024}$/),
  });
  expect(frontMatter(`${CLAUDE}/commands/run.md`)).toMatchObject({ description: expect.any(String) });
  expect(read(`${CLAUDE}/commands/run.md`)).toContain('$ARGUMENTS');
  expect(parseToml(read(`${GEMINI}/commands/pml.toml`)).prompt).toContain('{{args}}');
  expect(existsSync(join(ROOT, GEMINI, json(`${GEMINI}/gemini-extension.json`).contextFileName))).toBe(true);

  const tools = OPERATIONS.flatMap((operation) => (operation.mcp ? [operation.mcp.tool] : []));
  for (const path of globSync('integrations/**/*.{md,toml}', { cwd: ROOT })) {
    for (const [name] of read(path).matchAll(/\bpml_\w+/g)) expect(tools, path).toContain(name);
  }
});
