/** Servers from npm in one configuration, most of them without key or network: what doctor and a first search say. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { runPml, type ServingPml, servePml } from '../support/run-pml.ts';
import { install, type PartOptions, type PartReport, programOf, tableOf } from './scratch.ts';

type Verdict = 'works' | 'no key' | 'no network' | 'broken';

interface Tried {
  readonly package: string;
  readonly args?: readonly string[];
  /** What is true on a machine without keys that reaches nothing but the npm registry. */
  readonly expected: Verdict;
  /** For one that works: a search and a tool of it that the search finds. */
  readonly search?: readonly [query: string, tool: string];
}

/** `FOLDER` stands for an empty folder. `missing` and `mended` are added below: they are in no package. */
const SERVERS: Readonly<Record<string, Tried>> = {
  everything: { package: '@modelcontextprotocol/server-everything@2026.8.31', expected: 'works' },
  filesystem: {
    package: '@modelcontextprotocol/server-filesystem@2026.8.31',
    args: ['FOLDER'],
    expected: 'works',
    search: ['read a text file', 'filesystem:read_text_file'],
  },
  memory: { package: '@modelcontextprotocol/server-memory@2026.8.31', expected: 'works' },
  thinking: { package: '@modelcontextprotocol/server-sequential-thinking@2026.8.31', expected: 'works' },
  playwright: {
    package: '@playwright/mcp@0.0.83',
    args: ['--headless', '--isolated'],
    expected: 'works',
    search: ['take a screenshot of the page', 'playwright:browser_take_screenshot'],
  },
  git: {
    package: '@cyanheads/git-mcp-server@2.15.3',
    expected: 'works',
    search: ['commit my changes', 'git:git_commit'],
  },
  context7: { package: '@upstash/context7-mcp@4.1.1', expected: 'works' },
  excel: { package: '@negokaz/excel-mcp-server@0.12.0', expected: 'works' },
  chart: { package: '@antv/mcp-server-chart@0.9.10', expected: 'works' },
  mermaid: { package: 'mcp-mermaid@0.4.1', expected: 'works' },
  eslint: { package: '@eslint/mcp@0.3.13', expected: 'works' },
  dbhub: { package: '@bytebase/dbhub@1.4.0', args: ['--demo'], expected: 'works' },
  mongodb: { package: 'mongodb-mcp-server@3.0.4', expected: 'works' },
  kubernetes: { package: 'mcp-server-kubernetes@4.1.7', expected: 'works' },
  // These list their tools without a key, and miss it in their calls only.
  notion: { package: '@notionhq/notion-mcp-server@2.5.2', expected: 'works' },
  github: { package: '@modelcontextprotocol/server-github@2025.4.8', expected: 'works' },
  firecrawl: { package: 'firecrawl-mcp@3.26.0', expected: 'works' },
  tavily: { package: 'tavily-mcp@0.2.22', expected: 'works' },
  brave: { package: '@modelcontextprotocol/server-brave-search@0.6.2', expected: 'no key' },
  slack: { package: '@modelcontextprotocol/server-slack@2025.4.25', expected: 'no key' },
  maps: { package: '@modelcontextprotocol/server-google-maps@0.6.2', expected: 'no key' },
  everart: { package: '@modelcontextprotocol/server-everart@0.6.2', expected: 'no key' },
  figma: { package: 'figma-developer-mcp@0.13.2', args: ['--stdio'], expected: 'no key' },
  supabase: { package: '@supabase/mcp-server-supabase@0.13.0', expected: 'no key' },
  sentry: { package: '@sentry/mcp-server@0.39.0', expected: 'no key' },
  stripe: { package: '@stripe/mcp@0.3.3', expected: 'no key' },
  airtable: { package: 'airtable-mcp-server@1.14.0', expected: 'no key' },
  remote: { package: 'mcp-remote@0.15.1', args: ['https://mcp.example.com/mcp'], expected: 'no network' },
};

interface DoctorCheck {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

/** Which of the four doctor says, by its words. */
function verdictOf(check: DoctorCheck | undefined): Verdict {
  if (!check) return 'works';
  const { message, fix = '' } = check;
  if (message.includes('lacks a key or a setting')) return 'no key';
  return fix.startsWith('Check the address') ? 'no network' : 'broken';
}

export async function tryServers({ only, folder: scratch }: PartOptions): Promise<PartReport> {
  const folder = join(scratch, 'servers');
  const chosen = Object.entries(SERVERS).filter(([name]) => only.length === 0 || only.includes(name));
  await install(
    folder,
    chosen.map(([, { package: spec }]) => spec),
  );
  const data = mkdtempSync(join(tmpdir(), 'pml-servers-'));
  const empty = join(data, 'empty');
  mkdirSync(empty);
  const program = (name: string) => programOf(folder, name.replace(/(?<=.)@[^@]*$/, ''));
  const mended = join(data, 'mended.mjs');
  const mcpServers = {
    ...Object.fromEntries(
      chosen.map(([name, { package: spec, args = [] }]) => [
        name,
        {
          command: process.execPath,
          args: [program(spec), ...args.map((arg) => arg.replace('FOLDER', empty))],
          cwd: empty,
          env: { MEMORY_FILE_PATH: join(data, 'memory.jsonl') },
        },
      ]),
    ),
    hosted: { url: 'https://mcp.example.com/mcp' },
    missing: { command: 'no-such-command' },
    mended: { command: process.execPath, args: [mended] },
  };
  const serving = await servePml({ data, config: { mcpServers } });
  const failed: string[] = [];
  const must = (isSo: boolean, what: string) => void (isSo || failed.push(what));
  try {
    const searches = chosen.flatMap(([, { search }]) => (search ? [search] : []));
    const first = await searchOnce(serving, searches[0]?.[0] ?? 'read a text file');
    must(first.tools.length > 0 || first.note !== '', 'the first search is empty and says nothing');
    must(
      !first.note.includes('EPIPE'),
      'a reason of the first search is that a dead process cannot be written to',
    );
    const { stdout } = await runPml(['doctor', '--json', '--data', data], { cwd: data });
    const checks: readonly DoctorCheck[] = JSON.parse(stdout).checks;
    const checkOf = (name: string) =>
      checks.find((one) => one.name === 'servers' && one.message.startsWith(`${name}: `));
    const expected: readonly (readonly [string, string, Verdict])[] = [
      ...chosen.map(([name, tried]) => [name, tried.package, tried.expected] as const),
      ['hosted', 'an address', 'no network'],
      ['missing', 'a command that is not there', 'broken'],
      ['mended', 'a file that is not there yet', 'broken'],
    ];
    const rows = expected.map(([name, what, wanted]) => {
      const check = checkOf(name);
      const verdict = verdictOf(check);
      must(verdict === wanted, `${name}: doctor says "${verdict}", not "${wanted}": ${check?.message ?? ''}`);
      return [name, `\`${what}\``, verdict, toldBy(check)];
    });
    for (const [query, tool] of searches) {
      const { tools } = await searchOnce(serving, query);
      must(tools.includes(tool), `"${query}" finds ${tools.join(', ')}, not ${tool}`);
    }
    // Mended while the gateway runs: the next call finds it.
    const memory = program('@modelcontextprotocol/server-memory');
    if (chosen.some(([name]) => name === 'memory')) {
      writeFileSync(mended, `await import(${JSON.stringify(memory)});\n`);
      const call = { tool: 'mended:read_graph', arguments: {} };
      const answer = await ask(serving, 'pml_execute', call);
      must(answer.status === 'success', `the mended server: ${JSON.stringify(answer).slice(0, 300)}`);
    }
    const told = checks.find(({ name, status }) => name === 'servers' && status === 'ok')?.message;
    const found = `The first search, right after the start, found ${first.tools.join(', ') || 'nothing'}; its note: "${first.note || 'none'}"`;
    return {
      text: `${tableOf(['server', 'package', 'verdict', 'told'], rows)}\n\n${told}. ${found}`,
      failed,
    };
  } finally {
    await serving.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** The last line of what doctor says, without what differs from run to run. */
function toldBy(check: DoctorCheck | undefined): string {
  if (!check) return '';
  const lines = check.message.split('\n').map((line) => line.trim());
  return lines
    .at(-1)!
    .replace(/^\w+: Server "\w+" /, '')
    .replace(/^\[\d+\] /, '')
    .replace(/'\/\S*\//, "'…/")
    .slice(0, 160)
    .replaceAll('|', '\\|');
}

interface Answer {
  readonly status?: string;
  readonly note?: string;
  readonly tools?: readonly { readonly tool_id: string }[];
}

async function searchOnce(serving: ServingPml, query: string) {
  const { tools = [], note = '' } = await ask(serving, 'pml_search_tools', { query });
  return { tools: tools.map(({ tool_id }) => tool_id), note };
}

/** Each question is a connection of its own, as of a client that has just been started. */
async function ask(serving: ServingPml, name: string, args: Record<string, unknown>): Promise<Answer> {
  const client = new Client({ name: 'servers', version: '1' });
  const headers = { authorization: `Bearer ${serving.token}` };
  const url = new URL(`${serving.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  try {
    const { structuredContent } = await client.callTool({ name, arguments: args }, { timeout: 120_000 });
    return structuredContent as Answer;
  } finally {
    await client.close();
  }
}
