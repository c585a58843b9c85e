/**
 * An unattended agent, under the profile `balanced`: calls every tool of the named servers through the gateway, as
 * its client lists them, and reports which ask, and how soon they answer.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import hints from '../fixtures/tool-hints.json' with { type: 'json' };
import { servePml } from '../support/run-pml.ts';
import { install, nameOf, type PartOptions, type PartReport, programOf, tableOf } from './scratch.ts';

const DEFAULTS = {
  /** Of all tools. */
  mostAsking: 0.03,
  /** Milliseconds. */
  mostWait: 1_000,
  /** Milliseconds after which a call that did not ask is given up: what it does is not our question. */
  callMs: 4_000,
};

type Hints = Readonly<Record<string, { package: string; tools: Readonly<Record<string, unknown>> }>>;

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minItems?: number;
  readonly items?: Schema;
  readonly minimum?: number;
}

/** Few, harmless arguments that the schema accepts: those it requires. */
function argumentsFor(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return argumentsFor(schema.anyOf[0]!);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    const { required = [], properties = {} } = schema;
    return Object.fromEntries(required.map((name) => [name, argumentsFor(properties[name] ?? {})]));
  }
  if (type === 'array')
    return Array.from({ length: schema.minItems ?? 0 }, () => argumentsFor(schema.items ?? {}));
  if (type === 'number' || type === 'integer') return Math.max(schema.minimum ?? 0, 1);
  return type === 'boolean' ? false : 'nothing';
}

export async function tryApprovals({ folder: scratch }: PartOptions): Promise<PartReport> {
  const folder = join(scratch, 'servers');
  const recorded: Hints = hints;
  const packages = Object.values(recorded).map((one) => one.package);
  await install(folder, packages);
  const data = mkdtempSync(join(tmpdir(), 'pml-approvals-'));
  const empty = join(data, 'empty');
  mkdirSync(empty);
  execFileSync('git', ['init', '--quiet'], { cwd: empty });
  const more: Readonly<Record<string, readonly string[]>> = {
    filesystem: [empty],
    playwright: ['--headless', '--isolated'],
  };
  const mcpServers = Object.fromEntries(
    Object.entries(recorded).map(([name, { package: spec }]) => [
      name,
      {
        command: process.execPath,
        args: [programOf(folder, nameOf(spec)), ...(more[name] ?? [])],
        cwd: empty,
        env: { MEMORY_FILE_PATH: join(data, 'memory.jsonl'), HOME: empty },
      },
    ]),
  );
  const serving = await servePml({
    data,
    config: { mcpServers, pml: { permissions: { profile: 'balanced' } } },
  });
  const client = new Client({ name: 'headless', version: '1' });
  const failed: string[] = [];
  try {
    const headers = { authorization: `Bearer ${serving.token}` };
    const connect = async (path: string) => {
      const url = new URL(`${serving.url}${path}`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    };
    await connect('/mcp/all?meta=1');
    const { tools } = await client.listTools();
    const own = tools.filter(({ name }) => !name.startsWith('pml_'));
    const asks: { id: string; ms: number; says: string }[] = [];
    for (const { name, inputSchema } of own) {
      const args = argumentsFor(inputSchema as Schema);
      const id = name.replace('__', ':');
      const call = { tool: id, arguments: args, timeout_ms: DEFAULTS.callMs };
      const started = performance.now();
      const answer = await client
        .callTool({ name: 'pml_execute', arguments: call }, { timeout: 2 * DEFAULTS.callMs })
        .catch((error) => ({ content: [], structuredContent: { status: 'error', error: String(error) } }));
      const ms = performance.now() - started;
      const { status } = answer.structuredContent as { status: string };
      if (status === 'approval_required') asks.push({ id, ms, says: JSON.stringify(answer.content) });
    }
    const listed = new Map(own.map((tool) => [tool.name, tool.annotations ?? {}]));
    for (const [server, { tools: known }] of Object.entries(recorded))
      for (const [tool, annotations] of Object.entries(known))
        if (!isDeepStrictEqual(withoutTitle(listed.get(`${server}__${tool}`)), withoutTitle(annotations)))
          failed.push(`${server}:${tool} has other hints than test/fixtures/tool-hints.json`);
    for (const { id, ms, says } of asks) {
      if (ms > DEFAULTS.mostWait) failed.push(`${id} took ${Math.round(ms)} ms to say that it asks`);
      if (!says.includes('pml runs approve')) failed.push(`${id} does not say how to approve it`);
    }
    const share = asks.length / own.length;
    if (share > DEFAULTS.mostAsking) failed.push(`${asks.length} of ${own.length} tools ask`);
    const rows = Object.keys(recorded).map((server) => {
      const of = own.filter(({ name }) => name.startsWith(`${server}__`));
      const asking = asks.filter(({ id }) => id.startsWith(`${server}:`));
      const named = asking.map(({ id, ms }) => `\`${id}\` (answered in ${Math.round(ms)} ms)`).join(', ');
      return [`\`${recorded[server]!.package}\``, String(of.length), named || 'none'];
    });
    const sum = `${asks.length} of ${own.length} tools ask (${(100 * share).toFixed(1)} %).`;
    return { text: `${tableOf(['server', 'tools', 'ask'], rows)}\n\n${sum}`, failed };
  } finally {
    await client.close();
    await serving.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

function withoutTitle(annotations: unknown): unknown {
  const { title: _, ...rest } = (annotations ?? {}) as Record<string, unknown>;
  return rest;
}
