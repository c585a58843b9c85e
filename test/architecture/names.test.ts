import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

test('[HOUSE-16] vague words in names of files and exports are refused, with what to do instead', async () => {
  const found = await complaints('names', {
    'src/core/graph/path-utils.ts': 'export {};\n',
    'src/engine/calls/approval-desk.test.ts': '',
    'src/engine/calls/call-tool.ts': [
      'const helpers = 1;',
      'export const callV2 = helpers;',
      'export class ToolManager {}',
      'export interface LegacyCall {}',
      'export function commonCalls() {}',
    ].join('\n'),
  });
  expect(found).toEqual([
    'src/core/graph/path-utils.ts is called path-utils, and "utils" is too vague: name what it does, or move it to its only user',
    'src/engine/calls/approval-desk.test.ts is called approval-desk, and "desk" is too vague: name the data it holds, not a piece of furniture',
    'src/engine/calls/call-tool.ts:2 is called callV2, and "v2" is too vague: name the difference; the old way leaves when the new one lands',
    'src/engine/calls/call-tool.ts:3 is called ToolManager, and "manager" is too vague: name what it does: a registry, a pool, a lock',
    'src/engine/calls/call-tool.ts:4 is called LegacyCall, and "legacy" is too vague: name the difference; the old way leaves when the new one lands',
    'src/engine/calls/call-tool.ts:5 is called commonCalls, and "common" is too vague: name the one idea, and split what has several',
  ]);
});

test('[HOUSE-16] such words inside other words, and names that mean the protocol era, are fine', async () => {
  const found = await complaints('names', {
    'src/surfaces/mcp/serving/legacy-session.ts': 'export class LegacySession {}\n',
    'src/core/structure/evaluate/value.ts':
      'export function evaluateNew() {}\nexport const bookkeeping = 1;\n',
  });
  expect(found).toEqual([]);
});

test('[HOUSE-16] the tree itself has no such name', () => {
  expect(runCheck('--only', 'names')).toMatchObject({ exitCode: 0, stderr: '' });
});
