/**
 * `npm run record`: starts the demo, types commands at it, and draws what they print as a moving picture of a terminal
 * (`docs/images/demo.svg`). Nothing is invented: long lines are cut, and the folder and the one-time code are shortened.
 *
 *   node scripts/record-demo.ts [--out FILE]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawTerminal, type Scene } from './pictures/draw-terminal.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LAUNCHER = join(ROOT, 'bin/pml.js');

/** The last job of the demo; when it has run, everything before it is learned. */
const LAST_JOB = 'make one summary out of all my notes';

const COMMANDS = [
  {
    remark: 'find a tool by what it does, among the tools of all servers',
    args: ['search', 'read a text file', '--limit', '3'],
  },
  { remark: 'what PML learned from the runs of the demo', args: ['capability', 'ls'] },
  {
    remark: 'ask for a job in words that nobody has used before',
    args: ['suggest', 'put my notes together in one file'],
  },
  {
    remark: 'do it: one call instead of a dozen',
    args: ['capability', 'run', 'summarise_notes', '--args', '{"path":"notes"}'],
  },
];

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const home = mkdtempSync(join(tmpdir(), 'pml-demo-'));
const { PML_DATA, PML_CONFIG, ...inherited } = process.env;
const env = { ...inherited, HOME: home };
const demo = spawn('npm', ['start', '--silent', '--', '--port', '0'], {
  cwd: ROOT,
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const greeting = await firstWords(demo);
  await untilDone();
  const scenes: Scene[] = [
    {
      remark: 'four servers with 41 tools, and a few jobs to learn from',
      command: 'npm start',
      lines: shown(greeting),
    },
    ...COMMANDS.map(({ remark, args }) => ({ remark, command: spelled(args), lines: shown(pml(args)) })),
  ];
  const out = resolve(values.out ?? join(ROOT, 'docs/images/demo.svg'));
  writeFileSync(
    out,
    drawTerminal('A terminal: PML finds a tool, recognises a job and does it in one call', scenes),
  );
  console.log(out);
} finally {
  demo.kill('SIGTERM');
  await once(demo, 'exit');
  rmSync(home, { recursive: true, force: true });
}

function pml(args: readonly string[]): string {
  const data = join(home, '.pml', 'demo');
  return execFileSync(process.execPath, [LAUNCHER, ...args, '--data', data], { env, encoding: 'utf8' });
}

async function untilDone(): Promise<void> {
  while (!pml(['trace', 'ls', '--json']).includes(LAST_JOB)) await setTimeout(500);
  // Learning follows the answer.
  while (!pml(['capability', 'ls']).includes('write_weekly_report')) await setTimeout(500);
}

async function firstWords(starting: ChildProcess): Promise<string> {
  let said = '';
  for await (const chunk of starting.stdout!.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (said.includes('Ask for one of them')) return said;
  }
  throw new Error(`The demo did not start: ${said}`);
}

/** As a person types it. */
function spelled(args: readonly string[]): string {
  const quoted = args.map((arg) =>
    /^[\w:-]+$/.test(arg) ? arg : arg.includes('"') ? `'${arg}'` : `"${arg}"`,
  );
  return `pml ${quoted.join(' ')}`;
}

function shown(output: string): string[] {
  return output
    .replaceAll(home, '~')
    .replaceAll(/#code=[\w-]+/g, '#code=…')
    .trimEnd()
    .split('\n')
    .filter((line) => line.trim() !== '');
}
