import type { Entry } from './servers.ts';

/** The name under which clients know PML. */
export const OWN_NAME = 'pml';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '::1']);
const PROGRAM = /(?:^|[\\/])pml(?:-gateway)?(?:\.cmd|\.exe|\.ps1)?$/i;
const LAUNCHER = /(?:^|[\\/])bin[\\/]pml\.js$/i;
const PACKAGE = /^pml-gateway(?:@.+)?$/;

/**
 * Whether an entry of a client is PML itself, which must never stand behind itself: `gateway` reaches
 * all of it, `endpoint` one server through it. `ports` are those that PML listens on.
 */
export function ownEntry(entry: Entry, ports: readonly number[]): 'gateway' | 'endpoint' | null {
  const args = Array.isArray(entry.args) ? entry.args.map(String) : [];
  const command = typeof entry.command === 'string' ? entry.command : '';
  const isStdio = args.includes('stdio');
  if (PROGRAM.test(command) && isStdio) return 'gateway';
  if (args.some((arg) => LAUNCHER.test(arg) || PACKAGE.test(arg)) && isStdio) return 'gateway';
  const address = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  if (command !== '' || typeof address !== 'string' || !URL.canParse(address)) return null;
  const { hostname, port, pathname } = new URL(address);
  if (!LOOPBACK.has(hostname) || !ports.includes(Number(port || 80))) return null;
  return pathname.startsWith('/mcp/servers/') ? 'endpoint' : 'gateway';
}
