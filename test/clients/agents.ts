/** Agents from npm, each with its own files in a folder of its own and a stand-in for its model. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startStandIn } from './stand-in.ts';

export type Json = Record<string, unknown>;

/** Where the agent finds PML. */
export interface Entry {
  readonly url: string;
  readonly key: string;
}

interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const PROMPT = 'Do as the model says.';

/** By package: what its user would write into its files, and how it runs one prompt without a person. */
const AGENTS: Readonly<Record<string, (home: string, standIn: string, entry: Entry) => Launch>> = {
  '@anthropic-ai/claude-code': (home, standIn, { url, key }) => {
    const pml = { type: 'http', url, headers: { Authorization: `Bearer ${key}` }, alwaysLoad: true };
    const file = join(home, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { pml } }));
    return {
      program: 'claude',
      // biome-ignore format: one option per line says less
      args: ['-p', PROMPT, '--mcp-config', file, '--strict-mcp-config', '--allowedTools', 'mcp__pml',
        '--output-format', 'stream-json', '--verbose', '--debug-file', join(home, 'debug.log')],
      env: {
        ANTHROPIC_BASE_URL: standIn,
        ANTHROPIC_API_KEY: 'stand-in',
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    };
  },

  '@openai/codex': (home, standIn, { url, key }) => {
    const lines = [
      'model = "stand-in"',
      'model_provider = "standin"',
      '[model_providers.standin]',
      'name = "standin"',
      `base_url = "${standIn}/v1"`,
      'wire_api = "responses"',
      '[mcp_servers.pml]',
      `url = "${url}"`,
      'bearer_token_env_var = "PML_KEY"',
    ];
    writeFileSync(join(home, 'config.toml'), lines.join('\n'));
    return {
      program: 'codex',
      args: [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '-C',
        home,
        PROMPT,
      ],
      env: { CODEX_HOME: home, PML_KEY: key },
    };
  },

  '@google/gemini-cli': (home, standIn, { url, key }) => {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    const pml = { httpUrl: url, headers: { Authorization: `Bearer ${key}` }, trust: true };
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { pml },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
    };
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    return {
      program: 'gemini',
      args: ['--yolo', '--skip-trust', '-p', PROMPT],
      env: {
        GEMINI_CLI_HOME: home,
        HOME: home,
        GEMINI_API_KEY: 'stand-in',
        GOOGLE_GEMINI_BASE_URL: standIn,
      },
    };
  },
};

export const AGENT_NAMES = Object.keys(AGENTS);

export interface DrivenAgent {
  list(): Promise<readonly string[]>;
  call(name: string, args: Json): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts the agent and waits until it offers the tools of PML to its model. */
export async function driveAgent(name: string, home: string, entry: Entry): Promise<DrivenAgent> {
  mkdirSync(home, { recursive: true });
  const standIn = await startStandIn();
  const { program, args, env } = AGENTS[name]!(home, standIn.url, entry);
  const child = spawn(join('..', 'node_modules', '.bin', program), args, {
    cwd: home,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  const ended = new Promise<never>((_, reject) => {
    child.on('close', (code) => reject(new Error(`${program} ended with ${code}: ${said.slice(-400)}`)));
  });
  ended.catch(() => {});
  const isOurs = (tool: string) => /pml_execute$|everything__echo$/.test(tool);
  const close = async () => {
    standIn.finish();
    await endedOr(child, 10_000);
    standIn.close();
  };
  try {
    await Promise.race([standIn.offered(isOurs), ended]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    list: () => standIn.offered(() => true),
    call: (tool, given) => Promise.race([standIn.call(tool, given), ended]),
    close,
  };
}

async function endedOr(child: ChildProcess, ms: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
}
