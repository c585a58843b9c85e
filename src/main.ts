/** Process entry: command line in, exit code out, and signals. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { compose } from './compose.ts';
import type { Terminal } from './surfaces/cli/command.ts';
import { runCli } from './surfaces/cli/run-cli.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const TOLD_TWICE_MS = 1_000;
const LAUNCHER_POLL_MS = 1_000;
const LINGER_MS = 5_000;

let stop: () => void = () => {};
const stopped = new Promise<void>((resolve) => {
  stop = resolve;
});

const terminal: Terminal = {
  out: (said) => void process.stdout.write(said),
  async drained() {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  err: (said) => void process.stderr.write(said),
  isTty: process.stdout.isTTY === true,
  input: () => process.stdin.setEncoding('utf8'),
  async confirm(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await new Promise<boolean>((resolve) => {
        lines.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
        lines.once('close', () => resolve(false));
      });
    } finally {
      lines.close();
    }
  },
  untilStopped() {
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
    void stopped.then(() => setTimeout(heedNextSignal, TOLD_TWICE_MS).unref());
    stopWithLauncher();
    return stopped;
  },
};

/** Ctrl-C reaches this process twice, from the terminal and from the launcher; a later signal ends it at once. */
function heedNextSignal(): void {
  for (const signal of STOP_SIGNALS) process.removeListener(signal, stop);
}

/** A launcher killed with SIGKILL cannot pass the signal on; its child then gets a new parent. */
function stopWithLauncher(): void {
  const launcher = Number(process.env.PML_LAUNCHER_PID);
  if (!launcher) return;
  setInterval(() => {
    if (process.ppid !== launcher) stop();
  }, LAUNCHER_POLL_MS).unref();
}

// A reader that closes the pipe early (`pml trace ls | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await runCli(process.argv.slice(2), compose(process.env, process.cwd()), terminal);
// Force the exit if anything is still running.
setTimeout(() => process.exit(), LINGER_MS).unref();
