import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, type onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/adapters/config/read-config.ts';
import type { CommandContext } from '../../src/surfaces/cli/command.ts';
import { buildProgram } from '../../src/surfaces/cli/run-cli.ts';
import { type Block, commandsIn, documentedBlocks, ROOT } from '../support/documented-blocks.ts';
import { launchPml, type RunningPml } from '../support/run-pml.ts';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';
import { typeCheck } from '../support/type-check.ts';

const BLOCKS = documentedBlocks();

const PATIENT = { timeout: 90_000, interval: 200 };

/** What readers run as it stands; everything else is output, a drawing or a formula, and says so. */
const LANGUAGES = ['sh', 'output', 'ts', 'json', 'yaml', 'text'];

/** Sections that say themselves how to reach the demo. */
const BEFORE_DEMO = new Set(['README.md#Try it in two commands', 'docs/start.md#1. Run the demo']);

/** Sections that have nothing to do with the demo: they run in a home of their own, which has a client's file. */
const ELSEWHERE = new Set([
  'README.md#Connect your agent',
  'docs/connect.md#',
  'docs/start.md#5. Put it in front of your agent',
  'docs/configure.md#Where PML looks',
  'docs/operate.md#Backup and restore',
]);

/** The demo, in a home of its own. */
let home: { path: string; remove(): Promise<void> };
let demo: RunningPml;
let token: string;
/** An agent with a session. */
const agent = new Client({ name: 'reader', version: '1' });

beforeAll(async () => {
  home = await makeTemporaryDir();
  demo = await launchPml(['serve', '--demo', '--port', '0'], { env: { HOME: home.path } });
  const data = join(home.path, '.pml/demo');
  token = (await readFile(join(data, 'token'), 'utf8')).trim();
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${demo.ready.url}/mcp`), { requestInit }));
  const ran = async () => JSON.stringify(await api('/traces?limit=1'));
  // The last job of the demo.
  await vi.waitUntil(async () => (await ran()).includes('make one summary out of all my notes'), PATIENT);
});

afterAll(async () => {
  await agent.close();
  demo?.child.kill('SIGTERM');
  await demo?.exited;
  await home?.remove();
});

async function api<T = Record<string, unknown>>(path: string, body?: unknown): Promise<T> {
  const reply = await fetch(`${demo.ready.url}/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await reply.json()) as T;
}

let asked = 0;

/** A run that waits for a person. */
async function waitingRun(command: string): Promise<string> {
  const name = `nobody ${++asked}`;
  const deletions = [{ entityName: name, observations: [] }];
  const relations = [{ from: name, to: name, relationType: 'knows' }];
  // What one command allows for later calls must still ask for the others.
  const call = command.includes('--always session')
    ? { tool: 'memory:delete_relations', arguments: { relations } }
    : command.includes('--always')
      ? { tool: 'memory:delete_observations', arguments: { deletions } }
      : { tool: 'memory:delete_entities', arguments: { entityNames: [name] } };
  const { structuredContent } = await agent.callTool({ name: 'pml_execute', arguments: call });
  return (structuredContent as { run_id: string }).run_id;
}

/** What stands for a value of the reader's own, and a value for it. */
const PLACEHOLDERS: Readonly<Record<string, (command: string) => Promise<string>>> = {
  async RUN_ID(command) {
    if (/ fork /.test(command)) return (await traceOf('summarise+all+notes')).run_id;
    const id = await waitingRun(command);
    if (/ resume /.test(command)) await api(`/runs/${id}/approve`, {});
    return id;
  },
  async TRACE_ID(command) {
    if (/ fork /.test(command)) return (await traceOf('summarise+all+notes')).id;
    if (!/ forget /.test(command)) return (await traceOf('ten+pairs')).id;
    return String((await api('/execute', { code: 'return 1', intent: 'count to one' })).trace_id);
  },
  async LOGIN_ID() {
    const link = await api<{ login_url: string }>('/operations/create_login_link', {});
    const code = new URL(link.login_url).hash.slice('#code='.length);
    await fetch(`${demo.ready.url}/login`, { method: 'POST', body: new URLSearchParams({ code }) });
    const { logins } = await api<{ logins: { id: string }[] }>('/operations/list_logins', {});
    return logins[0]!.id;
  },
  async APPROVAL_ID() {
    const { approvals } = await api<{ approvals: { id: string }[] }>('/standing-approvals');
    return approvals[0]!.id;
  },
};

async function traceOf(words: string): Promise<{ readonly id: string; readonly run_id: string }> {
  const { traces } = await api<{ traces: { id: string; run_id: string }[] }>(`/traces?q=${words}`);
  // The oldest: forks of it have the same words.
  return traces.at(-1)!;
}

/** A shell in a folder that looks like a clone of the repository. */
async function openShell(section: string, onFinished: typeof onTestFinished) {
  const { path: folder, remove } = await makeTemporaryDir();
  for (const name of ['bin', 'examples', 'node_modules', 'docs']) {
    await symlink(join(ROOT, name), join(folder, name));
  }
  const own = join(folder, '.home');
  await mkdir(join(own, '.cursor'), { recursive: true });
  const mcpServers = { clock: { command: 'node', args: ['clock.js'] } };
  await writeFile(join(own, '.cursor/mcp.json'), JSON.stringify({ mcpServers }));
  const isElsewhere = ELSEWHERE.has(section) || ELSEWHERE.has(section.replace(/#.*/, '#'));
  const env = isElsewhere
    ? { HOME: own }
    : { HOME: home.path, ...(!BEFORE_DEMO.has(section) && { PML_DATA: join(home.path, '.pml/demo') }) };
  const { PML_DATA, PML_CONFIG, ...inherited } = process.env;
  const bin = join(folder, '.bin');
  await mkdir(bin);
  await writeFile(
    join(bin, 'pml'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/pml.js')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const shell = spawn('bash', ['--norc', '-O', 'expand_aliases'], {
    cwd: folder,
    env: {
      ...inherited,
      GITHUB_TOKEN: 'of-the-reader',
      PATH: `${bin}:${inherited.PATH}`,
      ...env,
    },
  });
  const closed = new Promise((resolve) => shell.on('close', resolve));
  onFinished(async () => {
    shell.stdin.end();
    await closed;
    await remove();
  });
  return { folder, run: (command: string) => runIn(shell, command) };
}

/** What a command of an open shell prints, and how it ends. */
async function runIn(shell: ChildProcessWithoutNullStreams, command: string) {
  let output = '';
  const ended = new Promise<number>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk;
      const [, code] = /\n@@ended (\d+)\n/.exec(output) ?? [];
      if (code === undefined) return;
      shell.stdout.off('data', onData);
      resolve(Number(code));
    };
    shell.stdout.on('data', onData);
    shell.once('close', () => reject(new Error(`The shell ended: ${output}`)));
  });
  // Both streams go one way, as to a terminal: of two, the end could come before what was said before it.
  shell.stdin.write(`{ ${command}\n} < /dev/null 2>&1\nprintf '\\n@@ended %d\\n' $?\n`);
  return { code: await ended, output };
}

/** Commands that ask are answered with yes. */
function answered(command: string): string {
  const [line = '', ...rest] = command.split('\n');
  const [, typed = line, comment = ''] = /^(.*?)(\s+# .*)?$/.exec(line) ?? [];
  if (!typed.startsWith('pml ') || /--yes|--dry-run|\|/.test(typed)) return command;
  const context = { system: { version: '' }, terminal: { out() {}, err() {} }, fail() {} };
  let found: Command = buildProgram(context as unknown as CommandContext);
  for (const word of typed.split(/\s+/).slice(1)) {
    const child = found.commands.find((one) => one.name() === word);
    if (!child) break;
    found = child;
  }
  const asks = found.options.some(({ long }) => long === '--yes');
  return [asks ? `${typed} --yes${comment}` : command, ...rest].join('\n');
}

async function filledIn(command: string): Promise<string> {
  let text = command;
  for (const [name, value] of Object.entries(PLACEHOLDERS)) {
    const word = new RegExp(`\\b${name}\\b`);
    if (word.test(text)) text = text.replace(word, await value(command));
  }
  return text;
}

test('[DOCS-5] every block has a language, and one that is not run says why', () => {
  const silent = BLOCKS.filter(({ language }) => !LANGUAGES.includes(language));
  expect(silent.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([]);
  const unrun = BLOCKS.filter(({ notRun }) => notRun !== null);
  expect(unrun.filter(({ notRun }) => notRun!.length < 15)).toEqual([]);
  expect(unrun.length).toBeLessThan(BLOCKS.length / 4);
});

test('[DOCS-6] the gallery shows every example as in its file, with its command and a picture of its trace', async () => {
  const page = await readFile(join(ROOT, 'examples/README.md'), 'utf8');
  const shown = BLOCKS.filter(({ page, file }) => page === 'examples/README.md' && file !== null);
  expect(shown.length).toBeGreaterThanOrEqual(8);
  const commands = BLOCKS.filter(({ page, language }) => page === 'examples/README.md' && language === 'sh');
  for (const { file, text } of shown) {
    expect(`${text}\n`, file!).toBe(await readFile(join(ROOT, 'examples', file!), 'utf8'));
    expect(
      commands.some((command) => command.text.includes(` examples/${file}`)),
      file!,
    ).toBe(true);
    const picture = `images/${file!.replace(/\.\w+$/, '.svg')}`;
    expect(page).toContain(`](${picture})`);
    expect(await readFile(join(ROOT, 'examples', picture), 'utf8')).toContain(`>${file}</text>`);
  }
});

const runnable = BLOCKS.filter(({ notRun }) => notRun === null);
const pages = Map.groupBy(
  runnable.filter(({ language }) => language === 'sh' || language === 'output'),
  ({ page }) => page,
);

describe.concurrent('[DOCS-5] commands run in reading order', () => {
  test.for([...pages])('%s', { timeout: 400_000 }, async ([page, blocks], { onTestFinished: onFinished }) => {
    for (const [section, own] of Map.groupBy(blocks, (block) => block.section)) {
      const { folder, run } = await openShell(`${page}#${section}`, onFinished);
      // What any section of the page shows as a file is there.
      for (const { file, text } of BLOCKS.filter((block) => block.page === page)) {
        if (file !== null) await writeFile(join(folder, file), text);
      }
      let said = '';
      for (const { text, line, language } of own) {
        if (language === 'output') {
          for (const expected of text.split('\n')) expect(said, `${page}:${line}`).toContain(expected);
          continue;
        }
        said = '';
        for (const command of commandsIn(text)) {
          const { code, output } = await run(answered(await filledIn(command)));
          said += output;
          expect(code, `${page}:${line}: ${command}\n${output}`).toBe(0);
        }
      }
    }
  });
});

describe('[DOCS-5] data and programs', () => {
  test('configurations are valid, calls of MCP tools succeed, other JSON and YAML parses', async () => {
    for (const block of runnable.filter(({ language }) => language === 'json' || language === 'yaml')) {
      const place = `${block.page}:${block.line}`;
      if (block.language === 'yaml') {
        expect(parse(block.text), place).toBeTypeOf('object');
        continue;
      }
      for (const value of valuesIn(block)) {
        if ('mcpServers' in value || 'pml' in value) {
          const env = {
            GITHUB_TOKEN: 'of-the-reader',
            SHOP_KEY: 'of-the-reader',
            PML_KEY: 'of-the-reader',
            PGPASSWORD: 'of-the-reader',
          };
          const read = () =>
            readConfig('/home/you/pml.json', JSON.stringify(value), { env, home: '/home/you' });
          expect(read, place).not.toThrow();
        }
        if (typeof value.name === 'string' && value.name.startsWith('pml_')) {
          const { isError, content } = await agent.callTool(
            value as { name: string; arguments: Record<string, unknown> },
          );
          expect(isError ?? false, `${place}: ${JSON.stringify(content)}`).toBe(false);
        }
      }
    }
  });

  test('programs have the types of the tools they call, or of the client', async () => {
    const folder = await temporaryDir();
    const files: Record<string, string> = {
      'pml.d.ts': await readFile(join(ROOT, 'examples/pml.d.ts'), 'utf8'),
    };
    const paths = { 'pml-gateway': [join(ROOT, 'dist/client.d.ts')] };
    for (const { text, language, page, line } of runnable) {
      if (language !== 'ts') continue;
      const name = `${page.replaceAll(/\W/g, '-')}-${line}.ts`;
      files[name] = /^import /m.test(text) ? text : `export async function program() { ${text}\n}\n`;
    }
    const types = join(ROOT, 'node_modules/@types');
    const options = {
      noUncheckedIndexedAccess: false,
      noImplicitAny: false,
      paths,
      types: [join(types, 'node')],
      skipLibCheck: true,
    };
    expect(await typeCheck(folder, files, options)).toBe('');
    expect(Object.keys(files).length).toBeGreaterThan(2);
  });
});

/** A block has one value, or one after the other. */
function valuesIn({ text, page, line }: Block): Record<string, unknown>[] {
  try {
    return [JSON.parse(text)];
  } catch {
    const parts = text.split(/\n(?=\{)/);
    return parts.map((part) => {
      try {
        return JSON.parse(part);
      } catch (error) {
        throw new Error(`${page}:${line}: ${(error as Error).message}`);
      }
    });
  }
}
