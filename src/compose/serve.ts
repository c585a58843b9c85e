import { join } from 'node:path';
import { createHttpBridge } from '../adapters/client/http-bridge.ts';
import { prepareDemo } from '../adapters/config/demo-settings.ts';
import { claim } from '../adapters/store/claim-data-dir.ts';
import { ensureDataDir, readToken } from '../adapters/store/data-dir.ts';
import type { DataDirLock } from '../adapters/store/data-dir-lock.ts';
import type { Settings } from '../engine/ports.ts';
import type { RunningGateway, ServeOptions } from '../surfaces/cli/system.ts';
import { hold } from './hold.ts';
import type { Own } from './own.ts';
import { runExamples } from './run-examples.ts';

/** The gateway for as long as it is wanted, on a data dir of its own for the demo. */
export async function serve(
  dataDir: string,
  settingsOf: () => Promise<Settings>,
  options: ServeOptions,
  own: Own,
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
  const held = await hold(dir, settings, lock, { own, host, port, anyPort, fillIn: true });
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
  if (takenPort !== null) notes.push(`Port ${takenPort} is taken, so another one was chosen.`);
  if (demoDir !== null) {
    notes.push('This is the demo, on a scratch folder of its own. Six examples are being run for real.');
    notes.push(`See what they did with "pml trace ls --data ${demoDir}".`);
  } else if (settings.servers.length === 0) {
    notes.push('No servers are attached yet: take over your client’s with "pml init", or try --demo.');
  }
  return notes;
}
