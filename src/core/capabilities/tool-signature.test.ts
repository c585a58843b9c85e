import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { toolId } from '../vocabulary/ids.ts';
import { capabilitySignature, toolSignature } from './tool-signature.ts';

/** A signature is what a declaration would say after its name. */
function isValid(signature: string): boolean {
  const declared = signature.replace(/^(mcp|capabilities)[^(]*\(/m, 'declare function f(');
  return declared !== signature && parseSync('declared.ts', declared).errors.length === 0;
}

const tool = (name: string, rest: object = {}) => ({
  id: toolId('filesystem', name),
  server: 'filesystem',
  name,
  description: 'Reads a file.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, head: { type: 'number' } },
    required: ['path'],
  },
  definitionHash: '',
  ...rest,
});

test.each([
  [
    'with its declared output',
    toolSignature(
      tool('read_text_file', {
        outputSchema: { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] },
      }),
      { type: 'string' },
    ),
    '/** Reads a file. */\nmcp.filesystem.read_text_file(args: { path: string; head?: number }): Promise<{ content: string }>',
  ],
  [
    'with what it gave so far',
    toolSignature(tool('read_text_file'), { type: ['string', 'null'] }),
    '/** Reads a file. */\nmcp.filesystem.read_text_file(args: { path: string; head?: number }): Promise<string | null> // output type observed, not declared',
  ],
  [
    'under a name that is no identifier, when nothing is known',
    toolSignature(tool('get-sum', { description: '', server: '2nd' })),
    'mcp["2nd"]["get-sum"](args: { path: string; head?: number }): Promise<unknown>',
  ],
  [
    'without arguments',
    toolSignature(tool('list', { inputSchema: { type: 'object', properties: {} }, description: 'a\n*/ b' })),
    '/** a * / b */\nmcp.filesystem.list(): Promise<unknown>',
  ],
  [
    'with arguments that may be left out',
    toolSignature(tool('list', { inputSchema: { properties: { n: { type: 'number' } } }, description: '' })),
    'mcp.filesystem.list(args?: { n?: number }): Promise<unknown>',
  ],
  [
    'with any arguments',
    toolSignature(tool('list', { inputSchema: null, description: '' })),
    'mcp.filesystem.list(args?: Record<string, unknown>): Promise<unknown>',
  ],
])('[TYPE-4] a tool is shown as it is called in code: %s', (_, signature, expected) => {
  expect(signature).toBe(expected);
  expect(isValid(signature)).toBe(true);
});

test('[TYPE-4] a long description is cut', () => {
  const signature = toolSignature(tool('read', { description: 'word '.repeat(1000) }));
  expect(signature.split('\n')[0]).toHaveLength('/** '.length + 200 + ' */'.length);
});

test('[TYPE-5] a capability is shown as it is called in code', () => {
  const signature = capabilitySignature({
    slug: 'count_words',
    description: 'Counts words.',
    parametersSchema: {
      type: 'object',
      properties: { path: { type: 'string', default: 'a' } },
      required: [],
    },
    outputSchema: { type: 'integer' },
  });
  expect(signature).toBe(
    '/** Counts words. */\ncapabilities.count_words(args?: { path?: string }): Promise<number> // output type observed, not declared',
  );
  expect(isValid(signature)).toBe(true);
});
