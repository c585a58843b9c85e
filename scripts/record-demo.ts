/**
 * `npm run record`: starts the demo, types commands at it, and draws what they print as a moving picture of a terminal
 * (`docs/images/demo.svg`); then runs each example and draws its trace (`examples/images`). Nothing is invented: long
 * lines are cut, and the folder and the one-time code are shortened.
 *
 *   node scripts/record-demo.ts [--only terminal|examples]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawTerminal, type Scene } from './pictures/draw-terminal.ts';
import { drawTrace, type TracedCall } from './pictures/draw-trace.ts';

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

const { values } = parseArgs({ options: { only: { type: 'string' } } });
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
  if (values.only !== 'examples') recordTerminal(greeting);
  if (values.only !== 'terminal') drawExamples();
} finally {
  demo.kill('SIGTERM');
  await once(demo, 'exit');
  rmSync(home, { recursive: true, force: true });
}

function recordTerminal(greeting: string): void {
  const scenes: Scene[] = [
    {
      remark: 'four servers with 41 tools, and a few jobs to learn from',
      command: 'npm start',
      lines: shown(greeting),
    },
    ...COMMANDS.map(({ remark, args }) => ({ remark, command: spelled(args), lines: shown(pml(args)) })),
  ];
  const title = 'A terminal: PML finds a tool, recognises a job and does it in one call';
  write('docs/images/demo.svg', drawTerminal(title, scenes));
}

/** Every example runs twice: the first time its servers and the sandbox may still have to start. */
function drawExamples(): void {
  const slugs = new Map(
    (JSON.parse(pml(['capability', 'ls', '--json'])) as Capabilities).capabilities.map(({ id, slug }) => [
      `capability:${id}`,
      `capabilities.${slug}`,
    ]),
  );
  for (const file of globSync('examples/*.{ts,json}', { cwd: ROOT }).toSorted()) {
    if (/\.d\.ts$|use-client|tsconfig|pml\.json/.test(file)) continue;
    const args = file.endsWith('.ts')
      ? ['run', file]
      : ['workflow', 'run', file, '--args', '{"path": "notes"}'];
    pml(args);
    pml(args);
    const newest = JSON.parse(pml(['trace', 'ls', '--limit', '1', '--json'])) as Traces;
    const { id } = newest.traces[0]!;
    const { events } = JSON.parse(pml(['trace', 'show', id, '--json'])) as { events: TraceEvent[] };
    const name = basename(file).replace(/\.\w+$/, '');
    write(`examples/images/${name}.svg`, drawTrace(basename(file), callsOf(events, slugs)));
  }
}

interface Capabilities {
  readonly capabilities: readonly { readonly id: string; readonly slug: string }[];
}

interface Traces {
  readonly traces: readonly { readonly id: string }[];
}

interface TraceEvent {
  readonly type: string;
  readonly trace_id: string;
  readonly parent_trace_id: string | null;
  readonly node: string;
  readonly ts: number;
  readonly duration_ms?: number;
  readonly success?: boolean;
}

/** The calls of tools and capabilities, each below its caller. */
function callsOf(events: readonly TraceEvent[], slugs: ReadonlyMap<string, string>): TracedCall[] {
  const ends = new Map(events.filter(({ type }) => type.endsWith('_end')).map((end) => [end.trace_id, end]));
  const starts = events.filter(({ type, node }) => type.endsWith('_start') && !node.startsWith('code:'));
  const first = Math.min(...starts.map(({ ts }) => ts));
  const below = (parent: string | null, depth: number): TracedCall[] =>
    starts
      .filter(({ parent_trace_id }) => parent_trace_id === parent)
      .flatMap(({ trace_id, node, ts }) => [
        {
          name: slugs.get(node) ?? node,
          depth,
          start: ts - first,
          duration: ends.get(trace_id)?.duration_ms ?? 0,
          success: ends.get(trace_id)?.success ?? false,
        },
        ...below(trace_id, depth + 1),
      ]);
  return below(null, 0);
}

function write(name: string, text: string): void {
  writeFileSync(join(ROOT, name), text);
  console.log(name);
}

function pml(args: readonly string[]): string {
  const data = join(home, '.pml', 'demo');
  return execFileSync(process.execPath, [LAUNCHER, ...args, '--data', data], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
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
