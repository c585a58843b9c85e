import { expect, test } from 'vitest';
import { toolId } from '../../core/vocabulary/ids.ts';
import { FULL_SCOPE, type Principal } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../caller.ts';
import { type CallScope, callTool, toolValue } from './call-tool.ts';

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

test('[CALL-7] the value of a tool is its structured content, otherwise its JSON text parsed, otherwise its text', () => {
  expect(toolValue({ ...text('{"a":1}'), structuredContent: { b: 2 } })).toEqual({ b: 2 });
  for (const value of [{ a: [1] }, [1, 'x'], 'quoted', -7.5, 0, true, false, null]) {
    expect(toolValue(text(` ${JSON.stringify(value)} `))).toEqual(value);
  }
  for (const value of ['plain words', '', '{not json', 'true story', '- a list', '12 monkeys']) {
    expect(toolValue(text(value))).toBe(value);
  }
  expect(toolValue({ content: [{ type: 'image', data: '' }] })).toBe('');
});

test('[SCOPE-2] [SCOPE-9] a call outside its scope, or outside the run that it repeats, ends before anyone is asked', async () => {
  const id = toolId('disk', 'read');
  const definition = {
    id,
    server: 'disk',
    name: 'read',
    description: '',
    inputSchema: {},
    definitionHash: '',
  };
  const scope = { ...FULL_SCOPE, servers: { allow: ['mail'], deny: [] } };
  const who: Principal = { name: 'ci', user: 'ci', role: 'agent', keyId: 'k', scope };
  const made = async (caller: Partial<Caller>) => {
    // Whatever it reached for would be missing.
    const bare = { caller: { sessionId: null, ...caller } } as CallScope;
    const call = { tool: id, arguments: {} };
    return await callTool(bare, { tool: definition, proposed: null }, call);
  };
  const refused = { kind: 'failed', errorType: 'PERMISSION', error: { code: 'forbidden' } };
  expect(await made({ who })).toMatchObject(refused);
  expect(await made({ onlyTools: new Set(['disk:write']) })).toMatchObject(refused);
  await expect(made({ onlyTools: new Set([id]) })).rejects.toThrow(TypeError);
});
