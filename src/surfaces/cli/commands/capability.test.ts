import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { sampleCapability, sampleResult } from '../../../../test/support/samples.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { CapabilityService } from '../../../engine/capabilities/manage-capabilities.ts';
import type { Capability } from '../../../engine/ports.ts';
import type { CapabilityCall } from '../../../engine/runs/run-requests.ts';

const FILES = {
  'SKILL.md': '---\nname: count-lines\ndescription: Counts\n---\n',
  'code.ts': 'return 1;',
  'schema.json': '{}',
  'capability.json': '{"slug": "count_lines"}',
};

const COUNT = sampleCapability({
  slug: 'count_lines',
  aliases: ['lines'],
  description: 'Counts the lines of a file',
  code: 'const text = await mcp.filesystem.read_file({ path: args.path });\nreturn text.split("\\n").length;',
  parametersSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'which file' },
      deep: { type: 'boolean', default: false },
    },
    required: ['path'],
  },
  outputSchema: { type: 'number' },
  uses: 4,
  successes: 3,
});

/** A gateway with one capability, and the calls made to it. */
function shelved(start: Capability | null = COUNT) {
  let one = start;
  const calls: CapabilityCall[] = [];
  const imports: unknown[] = [];
  const known = (slug: string): Capability => {
    if (one && (one.slug === slug || one.aliases.includes(slug))) return one;
    throw new PmlError('not_found', `Capability ${slug} not found`, { hint: 'Did you mean count_lines?' });
  };
  const change = async (slug: string, over: Partial<Capability>) => {
    one = { ...known(slug), ...over };
    return one;
  };
  const capabilities: CapabilityService = {
    list: async () => (one ? [one] : []),
    test: async () => [],
    show: async (slug) => known(slug),
    share: (slug) => change(slug, { visibility: 'shared' }),
    keepPrivate: (slug, user = 'ada') => change(slug, { visibility: 'private', owner: user }),
    rename: (slug, to) => change(slug, { slug: to, aliases: [slug] }),
    quarantine: (slug, reason) =>
      change(slug, {
        state: reason === null ? 'active' : 'quarantined',
        evidence: { ...COUNT.evidence, quarantinedBecause: reason },
      }),
    async forget(slug) {
      known(slug);
      one = null;
      return true;
    },
    async export(slug) {
      known(slug);
      return FILES;
    },
    async import(files) {
      imports.push(files);
      return COUNT;
    },
  };
  const gateway = handMadeGateway({
    capabilities,
    async executeCapability(call) {
      calls.push(call);
      return sampleResult({ result: 3 });
    },
  });
  return { calls, imports, system: { openGateway: async () => openedGateway(gateway) } };
}

test('[CAPCMD-7] a capability is kept private to a user, and shared again', async () => {
  const { system } = shelved();
  expect((await runCommand(['capability', 'keep-private', 'count_lines', '--user', 'bob'], system)).out).toBe(
    'count_lines is now private to bob.\n',
  );
  expect((await runCommand(['capability', 'show', 'count_lines'], system)).out).toContain(
    'count_lines  (active, private to bob)',
  );
  const { out } = await runCommand(['capability', 'share', 'count_lines', '--json'], system);
  expect(JSON.parse(out)).toMatchObject({ slug: 'count_lines', visibility: 'shared', owner: 'bob' });
  expect((await runCommand(['capability', 'share', 'count_lines'], system)).out).toBe(
    'Everybody can now see and call count_lines.\n',
  );
});

test('[CAPCMD-1] capabilities are listed with state, success, uses and tools', async () => {
  const { system } = shelved();
  expect((await runCommand(['capability'], system)).out).toBe(
    [
      'SLUG         STATE   SUCCESS  USES  TOOLS\n',
      'count_lines  active  75 %     4     filesystem:read_file\n',
    ].join(''),
  );
  const json = JSON.parse((await runCommand(['capability', 'ls', '--json'], system)).out);
  expect(json.capabilities).toMatchObject([{ slug: 'count_lines', success_rate: 0.75 }]);
  expect((await runCommand(['capability', 'ls'], shelved(null).system)).out).toMatch(/^No capabilities yet/);
});

test('[CAPCMD-2] one capability is shown with its signature, parameters, evidence and code', async () => {
  const { system } = shelved();
  const { out } = await runCommand(['capability', 'show', 'lines'], system);
  expect(out).toMatch(/^count_lines {2}\(active\)\n/);
  expect(out).toMatch(/capabilities\.count_lines\(args: \{ path: string.*\}\): Promise<number>/);
  expect(out).toMatch(/^ {2}path {2}string {3}required {7}which file$/m);
  expect(out).toMatch(/^ {2}deep {2}boolean {2}default false$/m);
  expect(out).toContain('3 of 4 runs succeeded (75 %); reliability 0.30');
  expect(out).toContain('latest, newest last: ✓ ✗ ✓');
  expect(out).toContain('learned from runs run-1, run-2');
  expect(out).toContain('Code\n  const text = await mcp');
  const json = JSON.parse((await runCommand(['capability', 'show', 'lines', '--json'], system)).out);
  expect(json).toMatchObject({
    slug: 'count_lines',
    code: COUNT.code,
    evidence: { run_ids: ['run-1', 'run-2'] },
  });
  expect(await runCommand(['capability', 'show', 'cuont'], system)).toMatchObject({
    code: 1,
    err: 'pml: Capability cuont not found\n  Did you mean count_lines?\n',
  });
});

test('[CAPCMD-2] nothing in a capability can control the terminal', async () => {
  const evil = 'a\u001b[2J\u202e';
  const { system } = shelved({ ...COUNT, description: evil, code: evil, intentText: evil, aliases: [evil] });
  const { out } = await runCommand(['capability', 'show', 'count_lines'], system);
  expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('[CAPCMD-3] a capability is run with arguments', async () => {
  const { calls, system } = shelved();
  const argv = ['capability', 'run', 'count_lines', '--args', '{"path": "a"}', '--intent', 'why'];
  expect(await runCommand(argv, system)).toMatchObject({ code: 0, out: '3\n' });
  expect(calls).toEqual([{ capability: 'count_lines', arguments: { path: 'a' }, intent: 'why' }]);
});

test('[CAPCMD-4] rename and quarantine print the new state', async () => {
  const { system } = shelved();
  expect((await runCommand(['capability', 'rename', 'count_lines', 'lines_of'], system)).out).toBe(
    'count_lines is now called lines_of; the name count_lines keeps working.\n',
  );
  const why = ['capability', 'quarantine', 'lines_of', '--reason', 'counts twice'];
  expect((await runCommand(why, system)).out).toBe('lines_of is quarantined.\n');
  expect((await runCommand(['capability', 'show', 'lines_of'], system)).out).toMatch(
    /^lines_of {2}\(quarantined: counts twice\)\n/,
  );
  const lifted = await runCommand(['capability', 'quarantine', 'lines_of', '--lift', '--json'], system);
  expect(JSON.parse(lifted.out)).toMatchObject({ state: 'active', quarantined_because: null });
});

test('[CAPCMD-5] forget asks first', async () => {
  const { system } = shelved();
  const refused = await runCommand(['capability', 'forget', 'lines'], system, { answer: false });
  expect(refused).toMatchObject({ asked: ['Delete count_lines?'], out: '' });
  expect(await runCommand(['capability', 'forget', 'lines'], system)).toMatchObject({ code: 2 });
  const forgotten = await runCommand(['capability', 'forget', 'lines', '--yes'], system);
  expect(forgotten.out).toBe('Deleted count_lines.\n');
  expect(await runCommand(['capability', 'show', 'lines'], system)).toMatchObject({ code: 1 });
});

test('[CAPCMD-6] export writes a folder and overwrites nothing without asking; import reads it', async () => {
  const { system, imports } = shelved();
  const dir = join(await temporaryDir(), 'skills', 'count-lines');
  const wrote = await runCommand(['capability', 'export', 'count_lines', dir], system);
  expect(wrote.out).toBe(`Wrote SKILL.md, code.ts, schema.json, capability.json to ${dir}.\n`);
  expect((await readdir(dir)).sort()).toEqual(Object.keys(FILES).sort());

  await writeFile(join(dir, 'code.ts'), 'mine');
  expect(await runCommand(['capability', 'export', 'count_lines', dir], system)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--force'),
  });
  expect(await readFile(join(dir, 'code.ts'), 'utf8')).toBe('mine');
  expect(await runCommand(['capability', 'export', 'count_lines', dir, '--force'], system)).toMatchObject({
    code: 0,
  });

  await writeFile(join(dir, 'notes.txt'), 'not of the skill');
  expect((await runCommand(['capability', 'import', dir], system)).out).toBe(
    'Imported count_lines; its state is active.\n',
  );
  expect(imports).toEqual([FILES]);
  expect(await runCommand(['capability', 'import', join(dir, 'none')], system)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Cannot read'),
  });
});
