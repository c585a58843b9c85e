import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./health-child.ts', import.meta.url));

/** Durations of `/healthz`, measured by a separate process; `end` returns all of them, in milliseconds. */
export async function watchHealth(url: string): Promise<{ end(): Promise<readonly number[]> }> {
  const child = fork(CHILD, [url]);
  await once(child, 'message');
  return {
    async end() {
      const told = once(child, 'message');
      child.send('end');
      return (await told)[0] as number[];
    },
  };
}
