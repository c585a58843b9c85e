import type { Store } from '../../engine/ports.ts';
import type { CommandContext } from './command.ts';
import type { GlobalOptions } from './system.ts';

/** Works with the store of the data dir: this process's own, or that of whoever holds it. */
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
