import { type LookupAddress, lookup } from 'node:dns';
import { request } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

const DEFAULTS = {
  /** Milliseconds for the whole document, name resolution included. */
  timeoutMs: 5_000,
  maxBytes: 16 * 1024,
};

/** Addresses that are not on the public internet (RFC 6890 and its successors, multicast, tunnels to IPv4). */
const NOT_PUBLIC = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  NOT_PUBLIC.addSubnet(net, prefix, 'ipv4');
/** Only 2000::/3 is in public use; of it, these are not: documentation, 6to4, Teredo and other protocols. */
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  NOT_PUBLIC.addSubnet(net, prefix, 'ipv6');
const IN_USE = new BlockList();
IN_USE.addSubnet('2000::', 3, 'ipv6');

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  return IN_USE.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6');
}

/**
 * Gets a document that a stranger named: over https, from a public address, without redirects, and only so much of it.
 * The address is checked where the connection is made, so a name cannot resolve to another one in between.
 */
export async function fetchPublic(
  address: string | URL | Request,
  { headers }: RequestInit = {},
): Promise<Response> {
  const url = new URL(address instanceof Request ? address.url : address);
  if (url.protocol !== 'https:') throw new Error(`${url.origin} is not https`);
  const name = url.hostname.replace(/^\[|\]$/g, '');
  // A literal address is not looked up.
  if (isIP(name) !== 0 && !isPublicAddress(name)) throw new Error(`${name} is not a public address`);
  const signal = AbortSignal.timeout(DEFAULTS.timeoutMs);
  return await new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: 'GET', headers: Object.fromEntries(new Headers(headers)), lookup: publicLookup, signal },
      (reply) => {
        const { statusCode = 502 } = reply;
        const given = new Headers();
        for (const known of ['content-type', 'cache-control', 'expires']) {
          const value = reply.headers[known];
          if (typeof value === 'string') given.set(known, value);
        }
        const status = statusCode >= 200 && statusCode <= 599 ? statusCode : 502;
        const hasBody = status !== 204 && status !== 205 && status !== 304;
        const body = hasBody ? Readable.toWeb(Readable.from(bounded(reply))) : null;
        resolve(new Response(body as ReadableStream | null, { status, headers: given }));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > DEFAULTS.maxBytes) throw new Error(`The document has more than ${DEFAULTS.maxBytes} bytes`);
    yield chunk;
  }
}

/** A name with a private address among its public ones is refused as a whole. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const hidden = found?.find(({ address }) => !isPublicAddress(address));
    if (error) return done(error, '');
    const [first] = found;
    if (hidden || !first) return done(new Error(`${hostname} has no public address`), '');
    return options.all ? done(null, found) : done(null, first.address, first.family);
  });
};
