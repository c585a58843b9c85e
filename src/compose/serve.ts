import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpBridge } from '../adapters/client/http-bridge.ts';
import { prepareDemo } from '../adapters/config/load-settings.ts';
import { ensureDataDir, readToken } from '../adapters/store/data-dir.ts';
import { claim, type DataDirLock } from '../adapters/store/data-dir-lock.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { Settings } from '../engine/ports.ts';
import type { RunningGateway, ServeOptions } from '../surfaces/cli/system.ts';
import type { ProcessContext } from './process-context.ts';
import { startGatewayProcess } from './start-gateway-process.ts';

/**
 * What a person would have asked for; the programs are those of `examples/`. A capability comes from what ran
 * twice, and an edge counts as observed from three runs on. The report calls capabilities by the names that the
 * first two intents give them.
 */
const EXAMPLES = [
  { file: 'summarise-notes.ts', intent: 'summarise the notes of this week into one file', times: 3 },
  { file: 'remember-people.ts', intent: 'remember the engineers among the people', times: 3 },
  { file: 'add-in-parallel.ts', intent: 'add up ten pairs of numbers', times: 1 },
  { file: 'survey-notes.ts', intent: 'find out how large the notes are', times: 1 },
  { file: 'connect-people.ts', intent: 'connect the engineers who work together', times: 2 },
  { file: 'weekly-report.ts', intent: 'write the weekly report', times: 2 },
];

const FOLDER = fileURLToPath(new URL('../../examples', import.meta.url));

const SESSION = { sessionId: 'demo' };

/** The gateway for as long as it is wanted, on a data dir of its own for the demo. */
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
  // Beside the answers: nobody waits for the demo to have something to show.
  if (isDemo) void runExamples(held.gateway).catch(() => {});
  const takenPort = port !== 0 && held.listener.port !== port ? port : null;
  return {
    url: held.listener.url,
    loginUrl: held.createLink(),
    dataDir: dir,
    settings,
    notes: notesFor(settings, isDemo ? dir : null, takenPort),
    close: held.close,
  };
}

/** A `pml stdio` that holds the data dir hands it over: of all holders only another `serve` stays. */
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

/** One that cannot be asked is ending anyway. */
async function askToHandOver(dir: string, port: number): Promise<void> {
  const bridge = createHttpBridge(port, await readToken(dir));
  await bridge.call('holder', 'handOver', []).catch(() => {});
  await bridge.close();
}

function notesFor(settings: Settings, demoDir: string | null, takenPort: number | null): string[] {
  const notes: string[] = [];
  if (takenPort !== null) notes.push(`Port ${takenPort} is in use, so another one was chosen.`);
  if (demoDir !== null) {
    notes.push('This is the demo, in a temporary folder. It is running six real examples.');
    notes.push(`See what they did with "pml trace ls --data ${demoDir}".`);
  } else if (settings.servers.length === 0) {
    notes.push('No servers are attached yet: import those of your clients with "pml init", or try --demo.');
  }
  return notes;
}

/** Runs the examples for real, once, so that a first look finds something to see. */
async function runExamples(gateway: Gateway): Promise<void> {
  if ((await gateway.store.traces.count()) > 0) return;
  for (const { file, intent, times } of EXAMPLES) {
    const code = await readFile(join(FOLDER, file), 'utf8');
    for (let time = 0; time < times; time++) {
      await gateway.executeCode({ code, intent }, SESSION);
      // What was learned from it may be called by the next.
      await gateway.settled();
    }
  }
}
