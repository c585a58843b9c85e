import { type ErrorShape, PmlError } from './core/vocabulary/pml-error.ts';
import { type CallOptions, type OperationClient, operationClient } from './operations/operation-client.ts';

export { type CallOptions, type OperationClient as PmlClient, PmlError };

export interface ConnectOptions {
  /** Address of the gateway, such as `http://127.0.0.1:8080`. By default read from the data folder. */
  readonly url?: string;
  /** A key from `pml keys create`. By default the token in the data folder. */
  readonly token?: string;
  /** By default `PML_DATA`, then `~/.pml`. Only used if the url or the token is missing. */
  readonly dataDir?: string;
}

/**
 * Connects to a running gateway; the client has a method for each operation:
 *
 *     const pml = await connect();
 *     const { tools } = await pml.searchTools({ query: 'read a file' });
 *
 * Errors from the gateway are thrown as a `PmlError` with code, message and hint.
 */
export async function connect(options: ConnectOptions = {}): Promise<OperationClient> {
  const dir = options.dataDir ?? process.env.PML_DATA;
  const url = options.url ?? (await runningAt(dir));
  const token = options.token ?? (await readDataFile(dir, 'token'))?.trim();
  if (!token) {
    throw new PmlError('unauthorized', 'No token given', {
      hint: 'Pass a key from "pml keys create" as token, or the data folder of the gateway as dataDir.',
    });
  }
  const client = operationClient((name, input, { signal }) => post(url, token, name, input, signal));
  // Checks address and token now rather than at the first call.
  await client.getMe();
  return client;
}

async function post(
  url: string,
  token: string,
  name: string,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const reply = await ask(new URL(`/api/operations/${name}`, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    ...(signal && { signal }),
  });
  const body: unknown = await reply.json().catch(() => null);
  if (reply.ok) return body;
  const { error } = (body ?? {}) as { error?: ErrorShape };
  const {
    code = 'internal',
    message = `The gateway responded with HTTP ${reply.status}`,
    hint,
  } = error ?? {};
  throw new PmlError(code, message, hint === undefined ? {} : { hint });
}

async function ask(url: URL, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (cause) {
    if (request.signal?.aborted) throw new PmlError('cancelled', 'The call was cancelled', { cause });
    throw new PmlError('holder_unreachable', `No gateway responds at ${url.origin}`, {
      hint: 'Start one with "pml serve".',
      cause,
    });
  }
}

/** Address of the gateway that uses a data folder. */
async function runningAt(dir: string | undefined): Promise<string> {
  const text = await readDataFile(dir, 'holder.json');
  const { port = null } = text === null ? {} : (JSON.parse(text) as { port?: number | null });
  if (port !== null) return `http://127.0.0.1:${port}`;
  throw new PmlError('holder_unreachable', `No gateway is running for the data folder ${dir ?? '~/.pml'}`, {
    hint: 'Start one with "pml serve", or pass the url of one.',
  });
}

/**
 * Null if the file does not exist. Imports Node modules only when needed: with a url and a token, none is.
 */
async function readDataFile(dir: string | undefined, name: string): Promise<string | null> {
  const { readFile } = await import('node:fs/promises');
  const { homedir } = await import('node:os');
  const { join } = await import('node:path');
  return await readFile(join(dir ?? join(homedir(), '.pml'), name), 'utf8').catch(() => null);
}
