import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Peers that come from npm and start without an account, at the compared versions. */
export const PEERS = {
  'mcp-hub': '4.2.1',
  'mcp-proxy': '6.7.19',
  supergateway: '4.0.0',
  executor: '1.5.9',
  '@utcp/code-mode': '1.2.12',
  '@utcp/mcp': '1.1.3',
} as const;

/** The version that `@utcp/code-mode` requires has no build for this Node; this is PML's version. */
const OVERRIDES = { 'isolated-vm': '7.0.1' };

export async function installPeers(folder: string): Promise<void> {
  const manifest = { private: true, dependencies: PEERS, overrides: OVERRIDES };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    timeout: 600_000,
  });
}

export function peerCommand(folder: string, name: string): string {
  return join(folder, 'node_modules', '.bin', name);
}
