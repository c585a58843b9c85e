import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./health-child.ts', import.meta.url));

/** How long `/healthz` takes, seen by a process that does nothing else; `end` gives every one, in milliseconds. */
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
