import { type LookupAddress, lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

const DEFAULTS = {
  /** Milliseconds for the whole document, name resolution included. */
  timeoutMs: 5_000,
  maxBytes: 16 * 1024,
};

/** Addresses that are not on the public internet (RFC 6890 and its successors, multicast, tunnels to IPv4). */
const NOT_PUBLIC = blocked(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
);
/** Only 2000::/3 is in public use; of it, these are not: documentation, 6to4, Teredo and other protocols. */
const NOT_PUBLIC_6 = blocked('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20');
const IN_USE = blocked('ipv6', '2000::/3');

function blocked(family: 'ipv4' | 'ipv6', ...nets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const net of nets.join(' ').split(' ')) {
    const [address = '', prefix] = net.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  return IN_USE.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6');
}

export interface PublicFetchOptions {
  readonly isAllowed?: (address: string) => boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
}

/**
 * Gets documents that strangers name: over https, from a public address, without redirects, and only so much of them.
 * The address is checked where the connection is made, so a name cannot resolve to another one in between.
 */
export function createPublicFetch({
  isAllowed = isPublicAddress,
  timeoutMs = DEFAULTS.timeoutMs,
  maxBytes = DEFAULTS.maxBytes,
  ca,
}: PublicFetchOptions = {}): typeof fetch {
  return async (address, { headers } = {}) => {
    const url = new URL(address instanceof Request ? address.url : address);
    if (url.protocol !== 'https:') throw new Error(`${url.origin} is not https`);
    const name = url.hostname.replace(/^\[|\]$/g, '');
    // A literal address is not looked up.
    if (isIP(name) !== 0 && !isAllowed(name)) throw new Error(`${name} is not a public address`);
    const options = {
      headers: Object.fromEntries(new Headers(headers)),
      lookup: allowedLookup(isAllowed),
      signal: AbortSignal.timeout(timeoutMs),
      // Neither a connection that somebody else opened nor a proxy.
      agent: false as const,
      ...(ca !== undefined && { ca }),
    };
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, options, resolve).on('error', reject);
    });
    const known = new Headers();
    for (const header of ['content-type', 'cache-control', 'expires'] as const) {
      const value = reply.headers[header];
      if (value !== undefined) known.set(header, value);
    }
    const { statusCode: status = 502 } = reply;
    if (status !== 200) reply.destroy();
    const body = status === 200 ? Readable.toWeb(Readable.from(bounded(reply, maxBytes))) : null;
    return new Response(body as ReadableStream | null, {
      status: status >= 200 && status <= 599 ? status : 502,
      headers: known,
    });
  };
}

async function* bounded(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`The document has more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** A name with a private address among its public ones is refused as a whole. */
function allowedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return done(error, '');
      const [first] = found;
      if (!first || !found.every(({ address }) => isAllowed(address)))
        return done(new Error(`${hostname} has no public address`), '');
      return options.all ? done(null, found) : done(null, first.address, first.family);
    });
  };
}
