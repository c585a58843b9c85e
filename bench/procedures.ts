/**
 * What routines learned from some tasks are worth in others: BFCL's executable tasks, through a real gateway and real
 * servers, without a language model. Its 100 train tasks are run, turn by turn; before each turn of the 50 dev tasks PML is
 * asked for a plan and may run it by itself, as far as the rules let it; then the calls that are missing are made. What is
 * counted is told in docs/procedures.md. `--data DIR` names the folder of the data sets.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbedder } from '../src/adapters/embedding/create-embedder.ts';
import { createSandbox } from '../src/adapters/sandbox/create-sandbox.ts';
import { fileTokenStore } from '../src/adapters/upstream/file-token-store.ts';
import { McpUpstream } from '../src/adapters/upstream/mcp-upstream.ts';
import { partsEnding, readCall, type SessionCall } from '../src/core/planning/parts/part-occurrences.ts';
import type { Gateway } from '../src/engine/gateway.ts';
import type { Capability } from '../src/engine/ports.ts';
import { openTestGateway } from '../test/support/open-test-gateway.ts';
import { settingsFor } from '../test/support/settings-for.ts';
import type { BenchReport, BenchRow } from './run.ts';
import {
  type BfclPack,
  beginTask,
  copyFigures,
  endsWell,
  findPack,
  packServers,
  stateOf,
  type Task,
  type Turn,
} from './support/bfcl-pack.ts';
import { type PlannedCall, plannedCalls } from './support/planned-calls.ts';

const NAME = 'procedures';
/** How often each admitted routine is replayed. */
const REPLAYS = 8;
/** Changes something that the states do not show: where the next calls are made. */
const HIDDEN_WRITES = ['GorillaFileSystem:cd'];

export async function bench(): Promise<BenchReport> {
  const pack = process.env.PML_BENCH_DATA ? findPack(process.env.PML_BENCH_DATA) : null;
  if (!pack) {
    const below =
      'Nothing measured: the BFCL tasks are absent. Name the folder that has bfcl/tasks.train.jsonl with --data DIR (docs/procedures.md).';
    return { name: NAME, rows: [], below };
  }
  if (spawnSync('python3', ['--version']).status !== 0)
    return { name: NAME, rows: [], below: 'Nothing measured: its servers need python3, 3.9 or newer.' };
  const dir = mkdtempSync(join(tmpdir(), 'pml-procedures-'));
  try {
    return { name: NAME, rows: await measure(pack, dir) };
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure(pack: BfclPack, states: string): Promise<BenchRow[]> {
  const servers = packServers(pack, states);
  const clock = { now: () => new Date(), monotonic: () => performance.now() };
  const upstream = new McpUpstream({
    servers,
    dataDir: mkdtempSync(join(states, 'data-')),
    tokens: fileTokenStore(states),
    clock,
    random: () => 0,
    logger: { log: () => {} },
    info: { name: 'pml-bench', version: '0' },
  });
  const { gateway } = await openTestGateway({
    upstream,
    embedder: createEmbedder({ kind: 'minilm' }),
    sandbox: createSandbox(),
    settings: { servers },
  });
  try {
    await Promise.all(servers.map(({ name }) => upstream.start(name)));
    await gateway.settled();
    const world = { gateway, states };
    const writing = new Set(HIDDEN_WRITES);
    let equal = 0;
    for (const task of pack.train) equal += Number(await replay(world, task, writing));
    const routines = (await gateway.capabilities.list()).filter(({ state }) => state === 'active');
    const proof = await replayed(gateway);
    // A person would list what only reads: here what never changed a state in train.
    const used = new Set(
      pack.train.flatMap(({ turns }) => turns.flatMap(({ calls }) => calls)).map((c) => c.tool),
    );
    const settings = settingsFor([], { servers });
    const auto = [...used].filter((tool) => !writing.has(tool));
    await gateway.reload({ ...settings, permissions: { ...settings.permissions, auto } });
    const sums = new Sums();
    for (const task of pack.dev) equal += Number(await attempt(world, task, routines, sums));
    return [...rowsOf(pack, routines, sums, equal), ...proof];
  } finally {
    await gateway.close();
  }
}

/** The recorded runs of all admitted routines, on their cassettes, eight times each. */
async function replayed(gateway: Gateway): Promise<BenchRow[]> {
  let [proven, cases, equal] = [0, 0, 0];
  for (let times = 0; times < REPLAYS; times++) {
    const tests = (await gateway.capabilities.test(null)).filter((one) => one.capability.state === 'active');
    proven = tests.filter(({ status }) => status === 'passed').length;
    cases += tests.flatMap((one) => one.cases).length;
    equal += tests.flatMap((one) => one.cases).filter(({ difference }) => difference === null).length;
  }
  return [
    { label: 'admitted routines that are proven', value: proven, unit: '' },
    {
      label: `replays of their recorded runs that are equal (${equal} of ${cases})`,
      value: cases === 0 ? 0 : equal / cases,
      unit: 'share',
      goal: '>= 1',
    },
  ];
}

interface World {
  readonly gateway: Gateway;
  readonly states: string;
}

const codeOf = ({ calls }: Pick<Turn, 'calls'>) =>
  [
    ...calls.map(({ tool, arguments: args, fails }, i) => {
      const [server, name] = tool.split(':');
      const call = `await mcp.${server}.${name}(${JSON.stringify(args)})`;
      if (!fails) return `const r${i} = ${call};`;
      return `let r${i}; try { r${i} = ${call}; } catch (error) { r${i} = { error: error.message }; }`;
    }),
    `return [${calls.map((_, i) => `r${i}`).join(', ')}];`,
  ].join('\n');

/** Runs the right calls of a task; tools of turns that change a state may write. */
async function replay({ gateway, states }: World, task: Task, writing: Set<string>): Promise<boolean> {
  beginTask(states, task);
  for (const turn of task.turns.filter(({ calls }) => calls.length > 0)) {
    const before = stateOf(states, task);
    await gateway.executeCode({ code: codeOf(turn), intent: turn.intent }, { sessionId: task.id });
    await gateway.settled();
    if (stateOf(states, task) !== before) for (const { tool } of turn.calls) writing.add(tool);
  }
  return endsWell(states, task);
}

class Sums {
  turns = 0;
  exact = 0;
  gold = 0;
  planned = 0;
  right = 0;
  /** Calls in an occurrence of a routine, and those that were planned right as well. */
  known = 0;
  covered = 0;
  /** Right calls that a routine would have made, and those beyond the first of each routine that was right as a whole. */
  byRoutine = 0;
  saved = 0;
  ran = 0;
  wrongCalls = 0;
  wrongWrites = 0;
}

/** Asks for each turn, lets PML do what it may, and makes the calls that are missing. */
async function attempt(
  world: World,
  task: Task,
  routines: readonly Capability[],
  sums: Sums,
): Promise<boolean> {
  const { gateway, states } = world;
  const caller = { sessionId: task.id };
  const right: { readonly place: number; readonly turn: number }[] = [];
  const calls: SessionCall[] = [];
  const inRoutine = new Set<number>();
  beginTask(states, task);
  for (const [index, turn] of task.turns.entries()) {
    if (turn.calls.length === 0) continue;
    const all = new Map((await gateway.capabilities.list()).map((one) => [one.slug, one]));
    const before = stateOf(states, task);
    const { suggestion, run } = await gateway.executeIntent({ intent: turn.intent }, caller);
    const isChanged = stateOf(states, task) !== before;
    const made = await gateway.executeCode({ code: codeOf(turn), intent: turn.intent }, caller);
    await gateway.settled();
    const results = (made.result ?? []) as readonly unknown[];
    const planned = await plannedCalls(suggestion.plan, all, turn.calls, results);
    count(sums, turn, planned);
    if (run) {
      const wrong = planned.filter(({ gold }) => gold === null).length;
      sums.ran++;
      sums.wrongCalls += wrong;
      sums.wrongWrites += Number(isChanged);
    }
    const first = calls.length;
    for (const { gold } of planned) if (gold !== null) right.push({ place: first + gold, turn: index });
    for (const [i, { tool, arguments: args }] of turn.calls.entries()) {
      const earlier = calls.slice(-11);
      calls.push(readCall({ tool, arguments: args, result: results[i] }, earlier, turn.intent, index));
      for (const steps of partsEnding(calls.slice(-12)))
        if (isKnown(routines, steps)) for (const { place } of steps) inRoutine.add(place);
    }
  }
  sums.known += inRoutine.size;
  sums.covered += right.filter(({ place }) => inRoutine.has(place)).length;
  return endsWell(states, task);
}

function isKnown(routines: readonly Capability[], steps: readonly SessionCall[]): boolean {
  return routines.some(({ toolInvocations }) => {
    const tools = toolInvocations.map((call) => (call as { tool: string }).tool);
    return tools.length === steps.length && steps.every(({ call }, i) => call.tool === tools[i]);
  });
}

function count(sums: Sums, turn: Turn, planned: readonly PlannedCall[]): void {
  const right = planned.filter(({ gold }) => gold !== null);
  sums.turns++;
  sums.gold += turn.calls.length;
  sums.planned += planned.length;
  sums.right += right.length;
  sums.exact += Number(right.length === turn.calls.length && planned.length === right.length);
  sums.byRoutine += right.filter(({ routine }) => routine !== null).length;
  for (const [routine, own] of Map.groupBy(planned, (call) => call.routine))
    if (routine !== null && own.every(({ gold }) => gold !== null)) sums.saved += own.length - 1;
}

function rowsOf(pack: BfclPack, routines: readonly Capability[], sums: Sums, equal: number): BenchRow[] {
  const parts = routines.filter(({ evidence }) => evidence.part).length;
  const { copy, copy_and_fill: filled } = copyFigures(pack);
  const share = (label: string, n: number, of: number, more: Partial<BenchRow> = {}): BenchRow => ({
    label: `${label} (${n} of ${of})`,
    value: of === 0 ? 0 : n / of,
    unit: 'share',
    ...more,
  });
  const tasks = pack.train.length + pack.dev.length;
  return [
    { label: 'routines after train: parts of jobs', value: parts, unit: '' },
    { label: 'routines after train: whole jobs', value: routines.length - parts, unit: '' },
    share('dev: steps within a routine', sums.known, sums.gold),
    share('dev: steps covered by routines, arguments right', sums.covered, sums.gold, { goal: '>= 0.30' }),
    share('dev: steps planned right as calls of a routine', sums.byRoutine, sums.gold),
    { label: 'dev: steps saved by calling a routine', value: sums.saved, unit: 'calls' },
    share('dev: calls right', sums.right, sums.gold),
    { label: 'dev: calls right, copying', value: copy.calls_right, unit: 'share' },
    { label: 'dev: calls right, copying and filling in', value: filled.calls_right, unit: 'share' },
    share('dev: planned calls that are right', sums.right, sums.planned),
    share('dev: turns exact', sums.exact, sums.turns),
    { label: 'dev: turns exact, copying', value: copy.turns_exact, unit: 'share' },
    { label: 'dev: turns exact, copying and filling in', value: filled.turns_exact, unit: 'share' },
    { label: 'dev: turns run by itself', value: sums.ran, unit: 'turns' },
    { label: 'dev: wrong calls made in them', value: sums.wrongCalls, unit: 'calls' },
    { label: 'dev: writes made in them', value: sums.wrongWrites, unit: 'turns', goal: '<= 0 turns' },
    share('end states equal', equal, tasks, { goal: '>= 1' }),
  ];
}
