import { spawn } from 'node:child_process';

/** Tries to; whoever asked also shows the address. */
export function openBrowser(url: string): void {
  const [command, ...args] = opener(url);
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  // A machine without a browser is no failure: the address is there to be copied.
  child.on('error', () => {});
  child.unref();
}

function opener(url: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', url];
  // Not through cmd.exe, which would read the & of the address.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return ['xdg-open', url];
}
