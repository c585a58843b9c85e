import type { Random } from '../../src/core/numeric/random.ts';
import { hostileFrame, hostileMessage, hostileWorkflow } from './hostile-frames.ts';
import { hostileProgram } from './hostile-programs.ts';
import {
  damaged,
  hostileJson,
  hostileObject,
  hostileText,
  hostileValue,
  oneOf,
  upTo,
} from './hostile-values.ts';

/** What a request has to name to be heard. */
export interface Address {
  /** Host and port. */
  readonly host: string;
  readonly token: string;
  /** Of the session that was opened on `/mcp`. */
  readonly session: string;
}

interface Parts {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const READS = [
  '/api/search',
  '/api/node',
  '/api/path',
  '/api/graph',
  '/api/traces',
  '/api/runs',
  '/api/activity',
  '/api/events',
  '/api/audit',
  '/api/capabilities',
  '/api/stats',
  '/api/live',
  '/api/me',
  '/api/servers',
  '/api/learning',
  '/api/learning/insight',
  '/api/traces/:id',
  '/api/runs/:id',
  '/api/capabilities/:id',
  '/api/capabilities/:id/runs',
  '/api/capabilities/:id/export',
  '/metrics',
  '/readyz',
  '/',
  '/login',
  '/assets/:id',
] as const;
const QUERY_KEYS =
  'q limit server context explain signatures capabilities from to id tool since until before after status session kind __proto__'.split(
    ' ',
  );
const WRITES = [
  '/api/execute',
  '/api/execute',
  '/api/execute',
  '/api/suggest',
  '/api/workflows',
  '/api/workflows',
  '/api/suggestions/:id/reject',
  '/api/runs/:id/approve',
  '/api/runs/:id/reject',
  '/api/runs/:id/edit',
  '/api/runs/:id/resume',
  '/api/runs/:id/abort',
  '/api/capabilities/:id/run',
  '/api/capabilities/:id/rename',
  '/api/capabilities/:id/quarantine',
  '/api/capabilities/:id/forget',
  '/api/capabilities/:id/share',
  '/api/logins/:id/revoke',
] as const;

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

function inPath(random: Random, path: string): string {
  const id = () => {
    const text = hostileText(random).slice(0, 2_000).toWellFormed();
    return random.int(3) === 0
      ? oneOf(random, ['%00', '%', '%zz', '%c0%80', '..', '%2e%2e%2f', '__proto__'])
      : encodeURIComponent(text);
  };
  return path.replace(':id', () => id() || 'x');
}

function query(random: Random): string {
  const value = () => {
    const text = hostileText(random).slice(0, 3_000).toWellFormed();
    return random.int(5) === 0
      ? oneOf(random, ['%', '%ff', '1e9', '-1', 'a:b,c:d', '9'.repeat(300)])
      : encodeURIComponent(text);
  };
  const parts = Array.from({ length: random.int(5) }, () => `${oneOf(random, QUERY_KEYS)}=${value()}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function bodyFor(random: Random, path: string): Buffer {
  if (random.int(5) === 0) return Buffer.from(hostileJson(random));
  const text = () => (random.int(8) === 0 ? hostileValue(random) : hostileText(random));
  switch (path) {
    case '/api/suggest':
      return json({ intent: text(), ...(random.int(4) === 0 && hostileObject(random)) });
    case '/api/workflows':
      return json({
        workflow: hostileWorkflow(random),
        ...(random.int(2) === 0 && { intent: text(), run_id: text() }),
      });
    case '/api/execute':
      return json({
        ...oneOf<object>(random, [
          { code: hostileProgram(random) },
          { code: hostileProgram(random), as_plan: true },
          { tool: 'parrot:reply', arguments: hostileObject(random) },
          { tool: text() },
          { capability: text() },
          {},
        ]),
        ...(random.int(2) === 0 && { intent: text() }),
        ...(random.int(4) === 0 && { timeout_ms: oneOf<unknown>(random, [1, 0, 1e12, '1', 2_000]) }),
      });
    default:
      return json(
        oneOf<unknown>(random, [
          {},
          hostileObject(random),
          { approval_ids: [text()] },
          { name: text() },
          { arguments: {} },
        ]),
      );
  }
}

function written(address: Address, { method, path, headers, body }: Parts): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${address.host}`,
    `Authorization: Bearer ${address.token}`,
    'Connection: close',
    ...(method === 'GET' ? [] : [`Content-Length: ${body.length}`]),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

const JSON_TYPE = 'Content-Type: application/json';

export function apiRequest(random: Random, address: Address): Buffer {
  if (random.int(3) === 0) {
    const path = `${inPath(random, oneOf(random, READS))}${query(random)}`;
    return written(address, { method: 'GET', path, headers: [], body: Buffer.alloc(0) });
  }
  const path = oneOf(random, WRITES);
  const sound = bodyFor(random, path);
  const body = random.int(10) === 0 ? damaged(random, sound) : sound;
  return written(address, { method: 'POST', path: inPath(random, path), headers: [JSON_TYPE], body });
}

export function programRequest(random: Random, address: Address): Buffer {
  const body = json({ code: hostileProgram(random), arguments: { a: hostileValue(random, 2) } });
  return written(address, { method: 'POST', path: '/api/execute', headers: [JSON_TYPE], body });
}

/** A call whose answer is hostile. */
export function resultRequest(random: Random, address: Address): Buffer {
  const content = () => ({
    content: [{ type: 'text', text: hostileText(random) }],
    ...hostileObject(random),
  });
  const told = oneOf<() => object>(random, [
    () => ({ result: hostileJson(random) }),
    () => ({ result: JSON.stringify(content()) }),
    () => ({ result: JSON.stringify({ content: [], structuredContent: hostileValue(random) }) }),
    () => ({ result: JSON.stringify({ content: hostileValue(random) }) }),
    () => ({ error: hostileJson(random) }),
    () => ({ error: JSON.stringify({ code: -32_000, message: hostileText(random) }) }),
    () => ({ line: hostileFrame(random).toString() }),
    () => ({ stderr: hostileText(random) }),
    () => oneOf(random, [{ silent: true }, { dies: true }, {}]),
  ])();
  const body = json({ tool: 'parrot:reply', arguments: told, intent: hostileText(random) || 'x' });
  return written(address, { method: 'POST', path: '/api/execute', headers: [JSON_TYPE], body });
}

/** A server that changes what it says its tools are. */
export function definitionRequest(random: Random, address: Address): Buffer {
  const tool = () => ({
    name: hostileText(random).slice(0, 300),
    description: hostileText(random),
    inputSchema:
      random.int(3) === 0 ? hostileValue(random) : { type: 'object', properties: hostileObject(random) },
    ...(random.int(3) === 0 && hostileObject(random)),
  });
  const definition = random.int(3) === 0 ? hostileJson(random) : JSON.stringify(tool());
  const body = json({ tool: 'shifty:define', arguments: { definition } });
  return written(address, { method: 'POST', path: '/api/execute', headers: [JSON_TYPE], body });
}

const MODERN = '2026-07-28';
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};
const MCP_PATHS = ['/mcp', '/mcp', '/mcp', '/mcp/servers/parrot', '/mcp/servers/__proto__'] as const;

/** To either era of the protocol, or to neither. */
export function mcpRequest(random: Random, address: Address): Buffer {
  const path = oneOf(random, MCP_PATHS);
  const common = [JSON_TYPE, 'Accept: application/json, text/event-stream'];
  const own = path === '/mcp' ? [`Mcp-Session-Id: ${address.session}`] : [];
  const era = random.int(10);
  if (era < 5) {
    const headers = [...common, ...own, 'MCP-Protocol-Version: 2025-11-25'];
    return written(address, { method: 'POST', path, headers, body: hostileFrame(random) });
  }
  if (era < 8) {
    const message = hostileMessage(random);
    const params = { ...(message.params as object), _meta: { ...hostileObject(random), ...MODERN_META } };
    const { name } = params as { name?: unknown };
    const named = typeof name === 'string' ? [`Mcp-Name: ${headerText(name)}`] : [];
    const method = `Mcp-Method: ${headerText(String(message.method))}`;
    const headers = [...common, `MCP-Protocol-Version: ${MODERN}`, method, ...named];
    return written(address, { method: 'POST', path, headers, body: json({ ...message, params }) });
  }
  const method = oneOf(random, ['GET', 'DELETE', 'PUT', 'POST', 'POST']);
  // The session is for the cases to come as well.
  const session = method === 'DELETE' ? 'nobody' : oneOf(random, [address.session, 'nobody', '%00']);
  const revision = oneOf(random, ['2025-11-25', MODERN, 'x']);
  const headers = [...common, `Mcp-Session-Id: ${session}`, `MCP-Protocol-Version: ${revision}`];
  return written(address, { method, path, headers, body: hostileFrame(random) });
}

const headerText = (text: string) => text.replaceAll(/[^ -~]/g, '').slice(0, 200);

export function loginRequest(random: Random, address: Address): Buffer {
  const form = `${oneOf(random, ['code', 'key', '__proto__'])}=${encodeURIComponent(hostileText(random).toWellFormed())}`;
  const type = oneOf(random, [
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'multipart/form-data',
  ]);
  const body = Buffer.from(random.int(2) === 0 ? form : hostileText(random));
  return written(address, { method: 'POST', path: '/login', headers: [`Content-Type: ${type}`], body });
}

export function bridgeRequest(random: Random, address: Address): Buffer {
  const call = {
    operation: oneOf(random, ['get_stats', 'constructor', '__proto__', hostileText(random)]),
    input: hostileValue(random),
    user: oneOf(random, ['ada', hostileText(random)]),
  };
  const sound = Buffer.from(JSON.stringify(random.int(3) === 0 ? hostileValue(random) : call) ?? '');
  const body = random.int(2) === 0 ? damaged(random, sound) : sound;
  return written(address, { method: 'POST', path: '/bridge', headers: [], body });
}

const METHODS = [
  'GET',
  'POST',
  'HEAD',
  'OPTIONS',
  'PUT',
  'PATCH',
  'TRACE',
  'CONNECT',
  'PRI',
  'get',
  'M-SEARCH',
  'X'.repeat(300),
  '',
];
const PATHS = [
  '/',
  '/healthz',
  '/api/execute',
  '/mcp',
  '*',
  '//',
  '/../../etc/passwd',
  'http://elsewhere/',
  '/%',
  '/\0',
  '/api//search',
];

function oddHeader(random: Random, address: Address): string {
  const text = hostileText(random)
    .replaceAll(/[\r\n]/g, '')
    .slice(0, 400);
  return oneOf(random, [
    `X-A: ${text}`,
    `X-B: ${'y'.repeat(upTo(random, 40_000))}`,
    `${text}: z`,
    text,
    ' folded',
    'Host: elsewhere.example',
    `Host: ${address.host}`,
    'Origin: null',
    'Origin: http://elsewhere.example',
    'Sec-Fetch-Site: cross-site',
    'Content-Length: 5',
    `Content-Length: ${oneOf(random, ['-1', '1e3', '99999999999999999999', '0x10', '5, 5', ''])}`,
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'Connection: upgrade',
    'Cookie: a=b; '.repeat(upTo(random, 400)),
    `Authorization: ${oneOf(random, ['Bearer', 'Bearer x', 'Basic eDp5', 'Bearer \u00ff'])}`,
    `Last-Event-ID: ${text}`,
    'Range: bytes=0-0,-1,5-',
    'Accept-Encoding: identity;q=0',
    'If-None-Match: "x", W/"y"',
  ]);
}

const BODIES = [
  '0\r\n\r\n',
  '5\r\nabcde\r\n0\r\n\r\n',
  'ffffffff\r\n',
  '-1\r\n',
  'zz\r\n',
  '5;a=b\r\nabcde',
] as const;

/** Bytes on a socket, in the form of HTTP or not. */
export function rawRequest(random: Random, address: Address): Buffer {
  if (random.int(6) === 0)
    return Buffer.from(Array.from({ length: 1 + upTo(random, 800) }, () => random.int(256)));
  if (random.int(4) === 0) return damaged(random, apiRequest(random, address));
  const count = random.int(20) === 0 ? upTo(random, 3_000) : random.int(6);
  const known =
    random.int(4) === 0 ? [] : [`Host: ${address.host}`, `Authorization: Bearer ${address.token}`];
  const headers = [...known, ...Array.from({ length: count }, () => oddHeader(random, address))];
  const start = `${oneOf(random, METHODS)} ${oneOf(random, PATHS)} ${oneOf(random, ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''])}`;
  const end = oneOf(random, ['\r\n', '\r\n', '\r\n', '\n']);
  const body = random.int(2) === 0 ? oneOf(random, BODIES) : hostileJson(random);
  const bytes = Buffer.from(
    `${[start, ...headers].join(end)}${end}${end}${body}`,
    random.int(3) === 0 ? 'latin1' : 'utf8',
  );
  // Some never finish what they begin.
  return random.int(4) === 0 ? bytes.subarray(0, random.int(bytes.length)) : bytes;
}
