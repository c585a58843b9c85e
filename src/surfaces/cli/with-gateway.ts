import { open, rename, rm, stat } from 'node:fs/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { OperationClient } from '../../operations/operation-client.ts';
import type { CommandContext, Terminal } from './command.ts';
import type { GlobalOptions } from './system.ts';

/**
 * Runs `work` with the gateway that holds the data folder, or else with one in this process that starts no
 * servers.
 */
export async function withGateway<T>(
  { system }: CommandContext,
  options: GlobalOptions,
  role: string,
  work: (pml: OperationClient) => Promise<T>,
): Promise<T> {
  const { pml, close } = await system.openGateway(options, role);
  try {
    return await work(pml);
  } finally {
    await close();
  }
}

/** Says where to look for what is not there. */
export async function known<T>(asked: Promise<T>, hint: string): Promise<T> {
  return await asked.catch((error: unknown) => {
    const { code, message } = PmlError.from(error);
    throw code === 'not_found' ? new PmlError(code, message, { hint }) : error;
  });
}

/** File name that means stdout. */
const STDOUT = '-';

/** Readable by its owner only: exports contain tool arguments and results. */
const PRIVATE = 0o600;

/** Called before long work. */
export async function refuseExisting(file: string): Promise<void> {
  if (file === STDOUT) return;
  const isThere = await stat(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  throw new PmlError('usage', `${file} already exists`, { hint: 'Choose another name, or add --force.' });
}

/** Destination of an export. */
interface Target {
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  /** Does nothing after `finish`. */
  giveUp(): Promise<void>;
}

export async function openTarget(terminal: Terminal, file: string): Promise<Target> {
  return file === STDOUT ? toStdout(terminal) : await toFile(file);
}

function toStdout(terminal: Terminal): Target {
  return {
    async write(text) {
      terminal.out(text);
      await terminal.drained();
    },
    async finish() {},
    async giveUp() {},
  };
}

/** Writes to a temporary name and renames at the end, so that the file is always complete. */
async function toFile(file: string): Promise<Target> {
  const unfinished = `${file}.unfinished`;
  // Removes the leftover of an earlier attempt, and never writes through a link somebody put there.
  await rm(unfinished, { force: true }).catch(() => {});
  const handle = await open(unfinished, 'wx', PRIVATE).catch((cause) => {
    throw new PmlError('usage', `Cannot write ${file}: ${(cause as Error).message}`, { cause });
  });
  let isFinished = false;
  return {
    async write(text) {
      await handle.appendFile(text);
    },
    async finish() {
      await handle.close();
      await rename(unfinished, file);
      isFinished = true;
    },
    async giveUp() {
      if (isFinished) return;
      await handle.close().catch(() => {});
      await rm(unfinished, { force: true });
    },
  };
}
