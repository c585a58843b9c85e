import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { failureOf, options, program, returned, tableHost } from './sandbox-support.ts';

const LOOPING_HOST = fileURLToPath(new URL('../support/looping-sandbox-host.ts', import.meta.url));

/** Processes of sandboxes that `parent` started. */
function childrenOf(parent: number): number[] {
  return globSync('/proc/[0-9]*/stat').flatMap((path) => {
    try {
      const stat = readFileSync(path, 'latin1');
      const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const pid = Number.parseInt(stat, 10);
      const isOurs =
        Number(ppid) === parent && commandLine(pid).some((part) => /guest-worker\.[jt]s$/.test(part));
      return isOurs ? [pid] : [];
    } catch {
      return [];
    }
  });
}

const commandLine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

function isAlive(pid: number): boolean {
  try {
    // A killed process that was not collected yet is a zombie.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('sandbox processes', () => {
  // However slow the machine is, no program of this one takes long.
  const sandbox = createSandbox({ maxRunning: 2, longRunMs: 600_000 });
  afterAll(() => sandbox.close());
  const run = (code: string, host = tableHost(), given = options()) =>
    sandbox.run(program(code), host, given);

  test.each([
    [
      'memory',
      'const all = []; for (;;) all.push(new Array(1000).fill(1));',
      /more than 32 MB.*pml\.sandbox\.memory_mb/,
    ],
    [
      'memory',
      'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));',
      /more than 32 MB.*pml\.sandbox\.memory_mb/,
    ],
    ['cpu', 'for (;;);', /more than 200 ms.*pml\.sandbox\.cpu_ms/],
    [
      'cpu',
      'for (;;) { await mcp.a.b(); for (let i = 0; i < 1e7; i++); }',
      /more than 200 ms.*pml\.sandbox\.cpu_ms/,
    ],
  ])('[BOX-15] %s beyond its limit ends the run: %s', async (limit, code, message) => {
    const host = tableHost({ 'a:b': () => 1 });
    const given = options({ memoryMb: 32, cpuMs: limit === 'cpu' ? 200 : 20_000, callsTotal: 1e6 });
    const failure = failureOf(await run(code, host, given));
    expect(failure).toMatchObject({ kind: 'limit', limit, message: expect.stringMatching(message) });
    expect(returned(await run('return 1;'))).toBe(1);
  });

  test('[BOX-15] wall time and cancellation end a program that never yields; what it printed is kept', async () => {
    const slow = await run("console.log('before'); for (;;);", undefined, options({ wallMs: 5_000 }));
    expect(failureOf(slow)).toMatchObject({ kind: 'limit', limit: 'wall' });
    expect(slow.console).toEqual([{ level: 'log', text: 'before' }]);
    const controller = new AbortController();
    const host = tableHost({ 'a:b': () => void setTimeout(() => controller.abort(), 20) });
    const cancelled = await run('await mcp.a.b(); for (;;);', host, {
      ...options(),
      signal: controller.signal,
    });
    expect(failureOf(cancelled).kind).toBe('cancelled');
    expect(returned(await run('return 1;'))).toBe(1);
  });

  test('[BOX-20] a process that dies causes a failure, and the next run gets a new process', async () => {
    const host = tableHost({
      'a:die': () => {
        for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL');
        return new Promise(() => {});
      },
    });
    const outcome = await run('await mcp.a.die();', host);
    expect(failureOf(outcome)).toMatchObject({
      kind: 'crashed',
      message: expect.stringContaining('SIGKILL'),
    });
    expect(returned(await run('return 1;'))).toBe(1);
  });

  test('[BOX-16] a process has no environment, may only read its own code, and is reused', async () => {
    const seen = new Set<number>();
    const host = tableHost({
      'a:look': () => {
        for (const pid of childrenOf(process.pid)) seen.add(pid);
      },
    });
    for (let i = 0; i < 6; i++) await run('await mcp.a.look();', host);
    expect(seen.size).toBeLessThanOrEqual(3);
    for (const pid of childrenOf(process.pid)) {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('TZ=UTC\0');
      const flags = commandLine(pid).filter((part) => part.startsWith('--'));
      expect(flags).toContain('--permission');
      expect(flags.filter((flag) => /write|child|net|wasi|inspector/.test(flag))).toEqual([]);
      const reads = flags
        .filter((flag) => flag.startsWith('--allow-fs-read='))
        .map((flag) => flag.split('=')[1]!);
      for (const path of reads) {
        expect(path).toMatch(
          /\/(adapters\/sandbox|engine\/guest|core\/numeric|isolated-vm|node-gyp-build)\/\*$|^\/etc\/alpine-release$/,
        );
      }
    }
  });

  test('[BOX-16] runs beyond the parallel limit wait in a queue, and can be cancelled there', async () => {
    let running = 0;
    let most = 0;
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const host = tableHost({
      'a:wait': async () => {
        most = Math.max(most, ++running);
        await isReleased;
        running--;
      },
    });
    const runs = Array.from({ length: 5 }, () => run('await mcp.a.wait(); return 1;', host));
    await until(() => running === 2);
    const controller = new AbortController();
    const late = run('return 1;', host, { ...options(), signal: controller.signal });
    controller.abort();
    expect(failureOf(await late).kind).toBe('cancelled');
    release();
    expect((await Promise.all(runs)).map(returned)).toEqual([1, 1, 1, 1, 1]);
    expect(most).toBe(2);
  });

  test('[BOX-18] waiting programs of one user do not block other users, and full capacity is shared', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let running = 0;
    const host = tableHost({
      'a:wait': async () => {
        running++;
        await released;
        return 1;
      },
    });
    const of = (user: string) => ({ ...options(), user });
    const waiting = Array.from({ length: 6 }, () => run('return await mcp.a.wait();', host, of('greedy')));
    await until(() => running === 2);
    expect(returned(await run('return 2;', host, of('ann')))).toBe(2);
    expect(returned(await run('return 3;', host, of('ben')))).toBe(3);
    expect(running).toBe(2);
    release();
    expect((await Promise.all(waiting)).map(returned)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test('[BOX-19] the processes of programs have a lower priority than their host', async () => {
    await run('return 1;', tableHost(), options());
    const priorities = childrenOf(process.pid).map((pid) => getPriority(pid));
    expect(priorities.length).toBeGreaterThan(0);
    expect(Math.min(...priorities)).toBeGreaterThan(getPriority());
  });

  test('[BOX-19] a long program yields to others, and its process is not reused', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const host = tableHost({ 'a:wait': async () => released });
    await run('return 1;');
    const others = childrenOf(process.pid);
    const usual = Math.min(...others.map((pid) => getPriority(pid)));
    const other = createSandbox({ longRunMs: 50 });
    try {
      const long = other.run(program('return await mcp.a.wait();'), host, options());
      const slow = () =>
        childrenOf(process.pid).filter((pid) => !others.includes(pid) && getPriority(pid) > usual);
      await until(() => slow().length === 1);
      const [pid] = slow();
      release();
      await long;
      await until(() => !isAlive(pid!));
    } finally {
      await other.close();
    }
  });

  test('[BOX-21] closing leaves no process behind, and neither does a killed host', async () => {
    const other = createSandbox();
    const before = childrenOf(process.pid);
    await other.run(program('return 1;'), tableHost(), options());
    const started = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    expect(started.length).toBeGreaterThan(0);
    await other.close();
    await until(() => !started.some(isAlive));

    const host = spawn(process.execPath, [LOOPING_HOST], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(host.stdout, 'data');
    const orphans = childrenOf(host.pid!);
    expect(orphans.length).toBeGreaterThan(0);
    host.kill('SIGKILL');
    await until(() => !orphans.some(isAlive));
  });

  test('[BOX-22] programs one after the other take one process, and two together leave one more ready', async () => {
    // What the other sandbox starts to be ready may come a little later.
    await run('return 1;');
    const others = new Set(childrenOf(process.pid));
    const own = () => childrenOf(process.pid).filter((pid) => !others.has(pid) && isAlive(pid));
    const other = createSandbox({ longRunMs: 600_000 });
    const compute = () => other.run(program('return 1;'), tableHost(), options());
    try {
      for (let i = 0; i < 5; i++) expect(returned(await compute())).toBe(1);
      expect(own()).toHaveLength(1);
      await Promise.all([compute(), compute()]);
      await until(() => own().length === 3);
    } finally {
      await other.close();
    }
  });

  test('[BOX-22] processes start with the first program and end when they are idle', async () => {
    // What the other sandbox starts to be ready may come a little later.
    await run('return 1;');
    const others = new Set(childrenOf(process.pid));
    const own = () => childrenOf(process.pid).filter((pid) => !others.has(pid) && isAlive(pid));
    const other = createSandbox({ idleMs: 100 });
    try {
      expect(own()).toEqual([]);
      expect(returned(await other.run(program('return 1;'), tableHost(), options()))).toBe(1);
      await until(() => own().length === 0);
      expect(returned(await other.run(program('return 2;'), tableHost(), options()))).toBe(2);
    } finally {
      await other.close();
    }
  });
});
