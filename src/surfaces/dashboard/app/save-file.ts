import { ApiError, askRaw } from './api.ts';

const DEFAULTS = {
  /** Milliseconds that a browser may take to save a file. */
  keptMs: 60_000,
};

/** Saves what the gateway answers as a file. */
export async function saveFrom(address: string, name: string): Promise<void> {
  const reply = await askRaw(address);
  if (!reply.ok)
    throw new ApiError(reply.status, 'failed', `The gateway responded with HTTP ${reply.status}`);
  saveFile(await reply.blob(), name);
}

/** Saves what was made in the browser as a file. */
export function saveFile(made: Blob, name: string): void {
  const address = URL.createObjectURL(made);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), DEFAULTS.keptMs);
}
