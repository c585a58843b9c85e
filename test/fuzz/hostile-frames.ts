import type { Random } from '../../src/core/numeric/random.ts';
import { hostileProgram } from './hostile-programs.ts';
import { damaged, hostileJson, hostileObject, hostileText, hostileValue, oneOf } from './hostile-values.ts';

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/list',
  'initialize',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/read',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'server/discover',
  'tasks/get',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  '__proto__',
] as const;

const TOOLS = [
  'pml_search_tools',
  'pml_search_capabilities',
  'pml_execute',
  'pml_execute',
  'pml_execute_workflow',
  'pml_suggest',
  'pml:execute',
  'reply',
  'constructor',
] as const;

const REVISIONS = ['2025-11-25', '2026-07-28', '2024-11-05', '9999-99-99'] as const;

/** A workflow that looks like one, with anything in its places. */
export function hostileWorkflow(random: Random): unknown {
  const ids = ['a', 'b', 'c', '__proto__', hostileText(random).slice(0, 100)];
  const task = () => {
    const id = oneOf(random, ids);
    const body = oneOf<object>(random, [
      { tool: 'parrot:reply' },
      { tool: hostileText(random) },
      { code: 'return deps' },
      { code: hostileProgram(random) },
      { capability: hostileText(random) },
    ]);
    const other = oneOf(random, ids);
    return {
      id,
      ...body,
      ...(random.int(2) === 0 && { arguments: { a: `\${${other}.a[0]}`, b: hostileValue(random, 2) } }),
      ...(random.int(2) === 0 && { depends_on: [other] }),
      ...(random.int(4) === 0 && { when: { value: `\${${other}}`, equals: hostileValue(random, 2) } }),
      ...(random.int(4) === 0 && { for_each: `\${${other}}` }),
      ...(random.int(4) === 0 && hostileObject(random)),
    };
  };
  const tasks = Array.from({ length: random.int(6) }, task);
  return random.int(6) === 0
    ? hostileValue(random)
    : { tasks, ...(random.int(3) === 0 && hostileObject(random)) };
}

/** Arguments of a meta-tool: some as they should be, some not. */
function argumentsFor(random: Random, tool: string): unknown {
  const maybe = (key: string, make: () => unknown) => (random.int(2) === 0 ? { [key]: make() } : {});
  const text = () => (random.int(6) === 0 ? hostileValue(random) : hostileText(random));
  switch (random.int(5) === 0 ? '' : tool) {
    case 'pml_search_tools':
    case 'pml_search_capabilities':
      return { query: text(), ...maybe('limit', () => hostileValue(random, 1)), ...maybe('server', text) };
    case 'pml_suggest':
      return { intent: text(), ...maybe('executed', () => [text(), 'parrot:reply']) };
    case 'pml_execute_workflow':
      return { workflow: hostileWorkflow(random), ...maybe('intent', text), ...maybe('run_id', text) };
    case 'pml_execute':
    case 'pml:execute':
      return {
        ...oneOf<object>(random, [
          { code: hostileProgram(random) },
          { code: 'return await mcp.parrot.reply(args)', as_plan: true },
          { tool: 'parrot:reply', arguments: { result: hostileJson(random) } },
          { tool: text() },
          { capability: text() },
          {},
        ]),
        ...maybe('intent', text),
        ...maybe('arguments', () => (random.int(2) === 0 ? hostileJson(random) : hostileObject(random))),
        ...maybe('timeout_ms', () => oneOf(random, [1, 0, -1, 1e9, '5', 2_000])),
      };
    default:
      return hostileValue(random);
  }
}

function params(random: Random, method: string): unknown {
  if (random.int(10) === 0) return hostileValue(random);
  const meta =
    random.int(3) === 0
      ? { _meta: { progressToken: hostileValue(random, 1), ...hostileObject(random) } }
      : {};
  switch (method) {
    case 'tools/call': {
      const name = oneOf(random, TOOLS);
      return { name, arguments: argumentsFor(random, name), ...meta };
    }
    case 'initialize':
      return {
        protocolVersion: oneOf(random, REVISIONS),
        capabilities: random.int(2) === 0 ? {} : hostileObject(random),
        clientInfo: { name: hostileText(random).slice(0, 500), version: '1' },
        ...meta,
      };
    case 'resources/read':
    case 'resources/subscribe':
      return { uri: random.int(2) === 0 ? `skill://${hostileText(random)}` : hostileText(random), ...meta };
    case 'prompts/get':
      return { name: hostileText(random), arguments: hostileValue(random, 2), ...meta };
    case 'logging/setLevel':
      return { level: oneOf(random, ['debug', 'error', '', 7]), ...meta };
    case 'subscriptions/listen':
      return { notifications: { resourceSubscriptions: hostileValue(random, 2) }, ...meta };
    default:
      return { ...hostileObject(random), ...meta };
  }
}

/** One message of JSON-RPC, with a sound envelope more often than not. */
export function hostileMessage(random: Random): Record<string, unknown> {
  const method = random.int(15) === 0 ? hostileText(random).slice(0, 500) : oneOf(random, METHODS);
  const odd = () =>
    oneOf<unknown>(random, ['a', -1, 1e300, null, {}, undefined, hostileText(random).slice(0, 200)]);
  const id = random.int(8) === 0 ? odd() : random.int(2 ** 20);
  return {
    jsonrpc: random.int(20) === 0 ? hostileValue(random, 1) : '2.0',
    ...(method.startsWith('notifications/') && random.int(5) > 0 ? {} : { id }),
    ...(random.int(20) === 0 ? { result: hostileValue(random) } : { method }),
    ...(random.int(15) > 0 && { params: params(random, method) }),
  };
}

/** What a client of MCP may send: messages, batches of them, and what is neither. */
export function hostileFrame(random: Random): Buffer {
  switch (random.int(10)) {
    case 0:
      return Buffer.from(hostileJson(random));
    case 1:
      return damaged(random, Buffer.from(JSON.stringify(hostileMessage(random))));
    case 2:
      return Buffer.from(JSON.stringify(Array.from({ length: random.int(5) }, () => hostileMessage(random))));
    default:
      return Buffer.from(JSON.stringify(hostileMessage(random)));
  }
}
