import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { describe, expect, test } from 'vitest';
import { serverlessGateway } from '../../../../test/support/hand-made-gateway.ts';
import {
  connectClient,
  ERAS,
  fetchInto,
  openEndpoints,
  rawRequest,
} from '../../../../test/support/mcp-endpoints.ts';
import { sampleCapability } from '../../../../test/support/samples.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { Capability, JsonObject } from '../../../engine/ports.ts';

const CODE = 'return (await mcp.filesystem.read_file(args)).split("\\n");';

function filesOf({ slug, description, code }: Capability): Record<string, string> {
  const name = slug.replace(/_+/g, '-');
  return {
    'SKILL.md': `---\nname: ${name}\ndescription: ${description}\n---\n\nRun \`capabilities.${slug}\`.\n`,
    'code.ts': code,
    'schema.json': '{"type":"object"}',
  };
}

function gatewayWith(capabilities: Capability[]): Gateway {
  const listed: Partial<Gateway['capabilities']> = {
    list: async () => capabilities,
    export: async (slug) => filesOf(capabilities.find((one) => one.slug === slug)!),
  };
  return serverlessGateway({ capabilities: listed as Gateway['capabilities'] });
}

const capability = (slug: string, over: Partial<Capability> = {}) =>
  sampleCapability({ slug, description: `Does ${slug}`, code: CODE, ...over });

describe.each(ERAS)('the Skills extension in the %s era', (era) => {
  async function open(capabilities: Capability[]) {
    const gateway = gatewayWith(capabilities);
    const client = await connectClient(fetchInto(openEndpoints(gateway)), { era });
    return { gateway, client, skills: new SkillsClient(client) };
  }

  test('[SKILL-1] callable capabilities are listed and read by the official client, every byte verified', async () => {
    const { skills } = await open([
      capability('count_lines'),
      capability('still_learning', { state: 'candidate' }),
      capability('went_bad', { state: 'quarantined' }),
    ]);
    expect(skills.supported).toBe(true);
    const { skills: listed } = await skills.list();
    expect(listed.map(({ frontmatter }) => frontmatter)).toEqual([
      { name: 'count-lines', description: 'Does count_lines' },
    ]);
    const { skill } = await skills.get('skill://count-lines/SKILL.md');
    const manifest = await skills.read(skill);
    expect(manifest).toMatchObject({
      verified: true,
      body: expect.stringContaining('capabilities.count_lines'),
    });
    expect(await skills.read(skill, 'code.ts')).toMatchObject({
      verified: true,
      text: CODE,
      mimeType: 'text/typescript',
    });
    await expect(skills.get('skill://went-bad/SKILL.md')).rejects.toThrow('not found');
  });

  test('[SKILL-2] their manifests are among the resources, and an invalid skill does not affect the others', async () => {
    const { client, skills } = await open([capability('broken', { description: '' }), capability('fine')]);
    expect((await skills.list()).skills.map(({ uri }) => uri)).toEqual(['skill://fine/SKILL.md']);
    const { resources } = await rawRequest(client, 'resources/list');
    expect(resources).toEqual([
      {
        uri: 'skill://fine/SKILL.md',
        name: 'fine',
        description: 'Does fine',
        mimeType: 'text/markdown',
        size: expect.any(Number),
      },
    ]);
    const { resourceTemplates } = await rawRequest(client, 'resources/templates/list');
    expect((resourceTemplates as JsonObject[])[0]).toMatchObject({ uriTemplate: 'skill://{+path}' });
    await expect(client.readResource({ uri: 'skill://fine/none.md' })).rejects.toThrow('not found');
  });

  test('[SKILL-2] of two with the same name the first is served', async () => {
    const { skills } = await open([capability('a_b'), capability('a__b'), capability('c')]);
    expect((await skills.list()).skills.map(({ frontmatter }) => frontmatter.description)).toEqual([
      'Does a_b',
      'Does c',
    ]);
  });

  test('[SKILL-3] many are listed in pages, and a changed one is read in its current form', async () => {
    const many = Array.from({ length: 250 }, (_, at) => capability(`skill_${String(at).padStart(3, '0')}`));
    const { skills, client } = await open(many);
    expect((await skills.list()).skills).toHaveLength(250);
    const first = await rawRequest(client, 'skills/list');
    expect(first.skills).toHaveLength(100);
    many[0] = { ...many[0]!, code: 'return 2;', updatedAt: new Date() };
    const { skill } = await skills.get('skill://skill-000/SKILL.md');
    expect((await skills.read(skill, 'code.ts')).text).toBe('return 2;');
    await expect(rawRequest(client, 'skills/list', { cursor: 'bm9uZQ' })).rejects.toThrow(
      'start again without a cursor',
    );
  });
});

test('[SKILL-4] clients are notified when a capability appears or disappears', async () => {
  const gateway = gatewayWith([]);
  const client = await connectClient(fetchInto(openEndpoints(gateway)), { era: 'legacy' });
  const heard: string[] = [];
  client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
  const tell = (state: 'candidate' | 'active') =>
    gateway.events.emit({ type: 'capability_changed', capability_id: '1', slug: 'a', state });
  tell('candidate');
  tell('active');
  await expect.poll(() => heard).toEqual(['notifications/resources/list_changed']);
});
