import { open, rename, rm, stat } from 'node:fs/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { GatewayClient } from '../../engine/gateway-procedures.ts';
import type { Store, UpstreamReply } from '../../engine/ports.ts';
import type { OperationClient } from '../../operations/operation-client.ts';
import type { CommandContext, Terminal } from './command.ts';
import type { GlobalOptions } from './system.ts';

/** Works with the gateway that runs on the data dir, else with one of its own that starts no server. */
export async function withGateway<T>(
  { system }: CommandContext,
  options: GlobalOptions,
  role: string,
  work: (gateway: GatewayClient, pml: OperationClient) => Promise<T>,
): Promise<T> {
  const { gateway, pml, close } = await system.openGateway(options, role);
  try {
    return await work(gateway, pml);
  } finally {
    await close();
  }
}

/** What a server did wrong is data in the engine; for a command it is how it fails. */
export function valueFrom<T>(reply: UpstreamReply<T>): T {
  if (reply.ok) return reply.value;
  const { code, message, hint } = reply.error;
  throw new PmlError(code, message, hint === undefined ? {} : { hint });
}

/** Works with the store of the data dir: this process's own, or that of the process that holds it. */
export async function withStore<T>(
  { system }: CommandContext,
  options: GlobalOptions,
  role: string,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { store, close } = await system.openStore(options, role);
  try {
    return await work(store);
  } finally {
    await close();
  }
}

/** Instead of a file's name. */
const STDOUT = '-';

/** Only for the owner: exports hold what tools were given and gave. */
const PRIVATE = 0o600;

/** Before long work, not after it. */
export async function refuseExisting(file: string): Promise<void> {
  if (file === STDOUT) return;
  const isThere = await stat(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  throw new PmlError('usage', `${file} already exists`, { hint: 'Choose another name, or add --force.' });
}

/** Where a command writes what it exports. */
interface Target {
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  /** After `finish` there is nothing to give up. */
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

/** Under another name until it is complete: what has the name is whole. */
async function toFile(file: string): Promise<Target> {
  const unfinished = `${file}.unfinished`;
  // What an earlier attempt left, or somebody put there, a link for one, goes; nothing is written through it.
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
