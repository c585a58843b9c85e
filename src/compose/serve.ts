import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpBridge } from '../adapters/client/http-bridge.ts';
import { prepareDemo } from '../adapters/config/load-settings.ts';
import { claim, type DataDirLock, ensureDataDir, readToken } from '../adapters/store/data-dir-lock.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { Settings } from '../engine/ports.ts';
import type { RunningGateway, ServeOptions } from '../surfaces/cli/system.ts';
import { type ProcessContext, startGatewayProcess } from './start-gateway-process.ts';

/**
 * Intents for the programs of `examples/`, one per run: the same job comes back in other words. A program that ran
 * twice becomes a capability, and an edge counts as observed after three runs. The weekly report calls capabilities
 * by the names that the first two jobs give them.
 */
const EXAMPLES = [
  {
    file: 'summarise-notes.ts',
    intents: [
      'summarise the notes of this week into one file',
      'write a file that summarises my notes',
      'summarise all notes for the team',
    ],
  },
  {
    file: 'remember-people.ts',
    intents: [
      'remember the engineers among the people',
      'which of the people are engineers? Remember them',
      'remember all engineers',
    ],
  },
  { file: 'add-in-parallel.ts', intents: ['add up ten pairs of numbers'] },
  { file: 'survey-notes.ts', intents: ['find out how large the notes are'] },
  {
    file: 'connect-people.ts',
    intents: ['connect the engineers who work together', 'connect engineers with the people they work with'],
  },
  { file: 'weekly-report.ts', intents: ['write the weekly report', 'write the report of this week'] },
];

/** A job of calls made one at a time, as most agents work: learned like a program. */
const SINGLE_CALLS = ['Ada', 'Linus'].map((name) => ({
  intent: `write a page about ${name}`,
  calls: [
    { tool: 'memory:search_nodes', arguments: { query: name } },
    { tool: 'memory:open_nodes', arguments: { names: [name] } },
    { tool: 'filesystem:write_file', arguments: { path: `${name}.md`, content: `# ${name}\n` } },
  ],
}));

/** A job that ran before, as nobody has put it yet: its plan comes from the runs above. */
const OTHER_WORDS = 'make one summary out of all my notes';

const FOLDER = fileURLToPath(new URL('../../examples', import.meta.url));

const SESSION = { sessionId: 'demo' };

/** Runs the gateway until stopped; the demo has its own data folder. */
export async function serve(
  dataDir: string,
  settingsOf: () => Promise<Settings>,
  options: ServeOptions,
  context: ProcessContext,
): Promise<RunningGateway> {
  const isDemo =
    options.demo === 'always' || (options.demo !== undefined && (await settingsOf()).file === null);
  const dir = isDemo ? join(dataDir, 'demo') : dataDir;
  await ensureDataDir(dir);
  const settings = isDemo ? await prepareDemo(dir) : await settingsOf();
  const lock = await takeOver(dir);
  const host = options.host ?? settings.http.host;
  const port = options.port ?? settings.http.port;
  const anyPort = isDemo && options.port === undefined;
  const held = await startGatewayProcess(dir, settings, lock, { context, host, port, anyPort, fillIn: true });
  await held.ready.catch(async (error: unknown) => {
    await held.close();
    throw error;
  });
  // In the background: the gateway serves requests meanwhile.
  if (isDemo) void runExamples(held.gateway).catch(() => {});
  const takenPort = port !== 0 && held.listener.port !== port ? port : null;
  return {
    url: held.listener.url,
    loginUrl: held.createLink(),
    dataDir: dir,
    settings,
    notes: [...notesFor(settings, isDemo ? dir : null, takenPort), ...(await sandboxNotes(settings))],
    close: held.close,
  };
}

/** A `pml stdio` that holds the data folder hands it over; only another `serve` does not. */
async function takeOver(dir: string): Promise<DataDirLock> {
  const asked = new Set<string>();
  return await claim(dir, 'serve', {
    async patience(heldBy) {
      if (heldBy.role === 'serve') return false;
      if (heldBy.port !== null && !asked.has(heldBy.nonce)) {
        asked.add(heldBy.nonce);
        await askToHandOver(dir, heldBy.port);
      }
      return true;
    },
  });
}

/** A process that cannot be reached is ending anyway. */
async function askToHandOver(dir: string, port: number): Promise<void> {
  const bridge = createHttpBridge(port, await readToken(dir), userInfo().username);
  await bridge.call('hand_over', {}).catch(() => {});
  await bridge.close();
}

/** Said at once: such servers do not start. */
async function sandboxNotes({ servers }: Settings): Promise<string[]> {
  const confined = servers.filter(
    (server) => server.transport === 'stdio' && server.sandbox && !server.disabled,
  );
  if (confined.length === 0) return [];
  const problem = await (await import('../adapters/upstream/confine.ts')).sandboxProblem();
  const names = confined.map(({ name }) => name).join(', ');
  return problem === null ? [] : [`Servers with "sandbox" do not start (${names}): ${problem}.`];
}

function notesFor(settings: Settings, demoDir: string | null, takenPort: number | null): string[] {
  const notes: string[] = [];
  if (takenPort !== null) notes.push(`Port ${takenPort} is in use, so PML chose another one.`);
  if (demoDir !== null) {
    notes.push(
      'This is the demo, in a temporary folder. It is running seven real jobs, some in other words.',
    );
    notes.push(`See what they did with "pml trace ls --data ${demoDir}".`);
    notes.push(`Ask for one of them in your own words: pml suggest "${OTHER_WORDS}" --data ${demoDir}`);
  } else if (settings.servers.length === 0) {
    notes.push('No servers are attached yet: import those of your clients with "pml init", or try --demo.');
  }
  return notes;
}

/**
 * Runs the examples for real, once, so that a first visit has something to show: jobs in several wordings, calls one
 * at a time, and the plan that PML has for a job that is asked for in words of its own.
 */
async function runExamples(gateway: Gateway): Promise<void> {
  if ((await gateway.store.traces.count()) > 0) return;
  for (const { file, intents } of EXAMPLES) {
    const code = await readFile(join(FOLDER, file), 'utf8');
    for (const intent of intents) {
      await gateway.executeCode({ code, intent }, SESSION);
      // Waits for learning, because later examples call what earlier ones taught.
      await gateway.settled();
    }
  }
  for (const { intent, calls } of SINGLE_CALLS) {
    for (const call of calls) await gateway.executeTool({ ...call, intent }, SESSION);
  }
  const { id } = await gateway.suggest(OTHER_WORDS, SESSION);
  if (id !== null) await gateway.executeSuggestion(id, {}, SESSION);
}
