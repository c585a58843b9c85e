import { expect, test } from 'vitest';
import { readyCapability, sampleResult } from '../../../test/support/samples.ts';
import { settingsFor } from '../../../test/support/settings-for.ts';
import { planOf } from '../../../test/support/workflow-plan.ts';
import type { PermissionRules } from '../../core/policy/decide.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ToolAnnotations } from '../../core/vocabulary/tool-definition.ts';
import { readRegistry } from '../capabilities/capability-registry.ts';
import { createProgramCache } from '../code/program.ts';
import type { JsonObject } from '../ports.ts';
import { executeIntent } from './open-runs.ts';
import type { RunScope } from './run-scope.ts';

const TOOLS: Readonly<Record<string, { annotations?: ToolAnnotations; isChanged?: boolean }>> = {
  'disk:read': { annotations: { readOnlyHint: true } },
  'disk:write': { annotations: { readOnlyHint: false } },
  'disk:plain': {},
  'disk:changed': { annotations: { readOnlyHint: true }, isChanged: true },
};

const CAPABILITIES = {
  reads: 'return await mcp.disk.read({})',
  writes: 'await mcp.disk.read({}); return await mcp.disk.write({})',
  part_reads: 'await mcp.disk.read({}); return await mcp.disk.read({})',
  part_writes: 'await mcp.disk.read({}); return await mcp.disk.write({})',
  calls_writes: 'const n = await mcp.disk.read({}); return [n, await capabilities.writes({})]',
  calls_calls_writes: 'for (const n of args.all) await capabilities.calls_writes({ n })',
  in_a_helper:
    'const put = async (n) => await mcp.disk.write({ n }); return await Promise.all(args.all.map(put))',
  in_a_branch: 'if (args.sure) await mcp.disk.write({}); return 1',
  chooses: 'return await mcp.disk[args.name]({})',
  chooses_capability: 'return await capabilities[args.name]({})',
  in_a_circle: 'await mcp.disk.read({}); return await capabilities.round({})',
  round: 'await mcp.disk.read({}); return await capabilities.in_a_circle({})',
};

/** As sure as can be of this plan; answers why it did not run, or null where it did. */
async function ask(
  plan: Plan,
  rules: Partial<PermissionRules> = {},
  { guesses = [], given = {} }: { guesses?: readonly string[]; given?: JsonObject } = {},
): Promise<readonly string[] | null> {
  const { permissions } = settingsFor([]);
  const { evidence } = readyCapability({});
  const part = { key: '', tools: [], wiring: [], support: 9, gain: 9 };
  const all = Object.entries(CAPABILITIES).map(([slug, code]) =>
    readyCapability({ slug, code, ...(slug.startsWith('part_') && { evidence: { ...evidence, part } }) }),
  );
  const scope = {
    settings: settingsFor(['disk'], { permissions: { ...permissions, ...rules } }),
    capabilities: readRegistry(() => all),
    programs: createProgramCache(),
    async findTool({ tool: id }: { tool: string }) {
      const { annotations, isChanged } = TOOLS[id] ?? missing(id);
      const tool = { id, annotations };
      return { tool, proposed: isChanged ? tool : null };
    },
  } as unknown as RunScope;
  const suggestion = {
    id: 's-1',
    plan,
    confidence: 1,
    support: 1_000,
    basis: 'runs' as const,
    guesses,
    edges: [],
    alternatives: {},
    suggestedCapabilities: [],
  };
  let ran = false;
  const made = await executeIntent(
    {
      scope,
      suggest: async () => suggestion,
      run: async () => {
        ran = true;
        return sampleResult();
      },
    },
    { intent: 'do it', arguments: given },
    { sessionId: null },
  );
  expect(ran).toBe(made.why.length === 0);
  return ran ? null : made.why;
}

function missing(id: string): never {
  throw new PmlError('not_found', `Tool ${id} not found`);
}

const task = (body: object) => planOf([{ id: 'a', arguments: {}, ...body } as never]);

test('[INTENT-1] work that only reads runs, as a tool, a capability, code and one of several tasks', async () => {
  for (const body of [
    { tool: 'disk:read' },
    { tool: 'disk:read', forEach: [1, 2] },
    { capability: 'reads' },
    { code: 'const a = await mcp.disk.read({}); return [a, await capabilities.reads({})]' },
    { code: 'return deps' },
  ])
    expect(await ask(task(body)), JSON.stringify(body)).toBeNull();
});

test('[INTENT-7] a filled argument that is not certain must be given', async () => {
  const plan = task({ tool: 'disk:read', arguments: { path: 'a' } });
  expect(await ask(plan, {}, { guesses: ['path'] })).toEqual([expect.stringContaining('it needs "path"')]);
  expect(await ask(plan, {}, { guesses: ['path'], given: { path: 'b' } })).toBeNull();
});

test('[INTENT-1] [INTENT-6] work that writes does not run at any depth, until permissions.auto names it', async () => {
  for (const body of [
    { tool: 'disk:write' },
    { tool: 'disk:write', forEach: [1, 2] },
    { capability: 'writes' },
    { capability: 'calls_writes' },
    { capability: 'calls_calls_writes' },
    { capability: 'in_a_helper' },
    { capability: 'in_a_branch' },
    { code: 'return await mcp.disk.write({})' },
    { code: 'return await capabilities.calls_calls_writes({})' },
  ]) {
    const plan = task(body);
    expect(await ask(plan), JSON.stringify(body)).toEqual([expect.stringContaining('disk:write')]);
    expect(await ask(plan, { auto: ['disk:write'] }), JSON.stringify(body)).toBeNull();
    expect(await ask(plan, { auto: ['disk:write'], ask: ['*:write'] })).toHaveLength(1);
    expect(await ask(plan, { auto: ['disk:write'], deny: ['*:write'] })).toHaveLength(1);
  }
  const mixed = planOf([
    { id: 'a', tool: 'disk:read', arguments: {} },
    { id: 'b', tool: 'disk:plain', arguments: {} },
  ]);
  expect(await ask(mixed)).toEqual([expect.stringMatching(/^b \(disk:plain\) may change something/)]);
  expect(await ask(task({ tool: 'disk:changed' }), { auto: ['*'] })).toEqual([
    expect.stringMatching(/^a \(disk:changed\) would ask a person/),
  ]);
});

test('[MINE-10] a part of jobs that writes does not run, until permissions.auto names what it calls', async () => {
  expect(await ask(task({ capability: 'part_reads' }))).toBeNull();
  expect(await ask(task({ capability: 'part_writes' }))).toEqual([
    expect.stringContaining('may change something: disk:write is not marked read-only'),
  ]);
  expect(await ask(task({ capability: 'part_writes' }), { auto: ['disk:write'] })).toBeNull();
});

test('[INTENT-4] a program with calls known only at run time does not run, whatever permissions.auto says', async () => {
  for (const body of [
    { capability: 'chooses' },
    { capability: 'chooses_capability' },
    { code: 'return await mcp[args.server].read({})' },
    { code: 'return await capabilities.chooses({ name: "read" })' },
    { code: 'return (' },
    { capability: 'nowhere' },
    { tool: 'disk:nothing' },
  ])
    expect(await ask(task(body), { auto: ['*'] }), JSON.stringify(body)).toEqual([
      expect.stringContaining('cannot run by itself'),
    ]);
});

test('[INTENT-4] capabilities that call each other in a cycle are checked once', async () => {
  expect(await ask(task({ capability: 'in_a_circle' }))).toBeNull();
});
