import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { RequestCaller } from '../endpoint.ts';
import { invalidParams } from '../rpc-error.ts';

const DEFAULTS = {
  /** A server that is slow to answer, or to start, is left out. */
  waitMs: 3_000,
};

/** Which servers have more to list, each with its own cursor; `null` is its first page. */
type Position = readonly (readonly [server: string, cursor: string | null])[];

export interface ListPage {
  /** In the order of the servers asked. */
  readonly items: readonly { readonly server: string; readonly item: JsonObject }[];
  readonly nextCursor?: string;
  /** Those that gave no answer. */
  readonly silent: readonly string[];
}

export interface ListRequest {
  readonly method: string;
  /** The field of the result that holds the list. */
  readonly field: string;
  readonly servers: readonly string[];
  readonly cursor: unknown;
  readonly waitMs?: number;
}

/** One page: the next page of every server that has one, asked all at once. */
export async function listPage(
  gateway: Gateway,
  request: ListRequest,
  caller: RequestCaller,
): Promise<ListPage> {
  const { method, field, servers, cursor, waitMs = DEFAULTS.waitMs } = request;
  const position = cursor === undefined ? servers.map((server) => [server, null] as const) : decode(cursor);
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(waitMs)]);
  const answers = await Promise.all(
    position.map(async ([server, at]) => {
      const params = at === null ? {} : { cursor: at };
      const reply = await gateway.request(server, method, params, { ...caller, signal });
      return { server, page: reply.ok ? reply.value : null };
    }),
  );
  const next: (readonly [string, string])[] = [];
  const items: { server: string; item: JsonObject }[] = [];
  for (const { server, page } of answers) {
    if (typeof page?.nextCursor === 'string') next.push([server, page.nextCursor]);
    for (const item of (page?.[field] ?? []) as readonly JsonObject[]) items.push({ server, item });
  }
  const silent = answers.filter(({ page }) => page === null).map(({ server }) => server);
  return { items, silent, ...(next.length > 0 && { nextCursor: encode(next) }) };
}

function encode(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function decode(cursor: unknown): Position {
  try {
    const position = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'));
    if (Array.isArray(position) && position.every(isPlace)) return position;
  } catch {
    // Falls through: a cursor of ours is always readable.
  }
  throw invalidParams(`"${cursor}" is not a cursor of this gateway`);
}

function isPlace(place: unknown): boolean {
  return Array.isArray(place) && place.length === 2 && place.every((part) => typeof part === 'string');
}
