import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import hints from '../../../test/fixtures/tool-hints.json' with { type: 'json' };
import { proofSeed } from '../../../test/proof-count.ts';
import { toolId } from '../vocabulary/ids.ts';
import type { ToolAnnotations } from '../vocabulary/tool-definition.ts';
import { callFingerprint, canonicalJson, diffLines } from './call-hash.ts';
import { decide, matchesGlob, type PermissionRules } from './decide.ts';

const OPEN: PermissionRules = {
  allow: [],
  ask: [],
  deny: [],
  auto: [],
  default: 'allow',
  profile: 'balanced',
};
const tool = (annotations?: ToolAnnotations) => ({
  id: toolId('github', 'delete_repo'),
  ...(annotations && { annotations }),
});

test('[POLICY-1] deny beats ask beats allow, whatever hints the tool has', () => {
  const all = ['*'];
  const harmless = tool({ readOnlyHint: true });
  expect(decide({ ...OPEN, allow: all, ask: all, deny: ['github:*'] }, harmless).action).toBe('deny');
  expect(decide({ ...OPEN, allow: all, ask: ['*:delete_*'] }, harmless).action).toBe('ask');
  expect(decide({ ...OPEN, allow: all, default: 'deny' }, tool({ destructiveHint: true })).action).toBe(
    'allow',
  );
});

const HINTS: Readonly<Record<string, { tools: Readonly<Record<string, ToolAnnotations>> }>> = hints;

test('[POLICY-9] at most 3 % of the tools of real servers ask under balanced, none under open', () => {
  const all = Object.entries(HINTS).flatMap(([server, { tools }]) =>
    Object.entries(tools).map(([name, annotations]) => ({ id: toolId(server, name), annotations })),
  );
  const asking = (profile: PermissionRules['profile']) =>
    all.filter((one) => decide({ ...OPEN, profile }, one, true).action === 'ask').map(({ id }) => id);
  expect(all).toHaveLength(90);
  expect(asking('open')).toEqual([]);
  const asks = asking('balanced');
  expect(asks).toEqual(['playwright:browser_file_upload', 'playwright:browser_run_code_unsafe']);
  expect(asks.length / all.length).toBeLessThanOrEqual(0.03);
});

describe('[POLICY-2] under balanced, a tool marked destructive asks unless its effect is harmless or can be undone', () => {
  const marked = { destructiveHint: true };
  const asks = (id: string, annotations: ToolAnnotations = marked, isLocal = true) => {
    const [server, name] = id.split(':') as [string, string];
    return decide(OPEN, { id: toolId(server, name), annotations }, isLocal).action === 'ask';
  };

  test.each([
    'excel:excel_read_sheet',
    'tables:excel_describe_sheets',
    'notion:API-post-search',
    'notion:notion_search',
    'web:getPage',
    'web:browser_hover',
    'web:browser_navigate',
  ])('%s only reads or navigates', (id) => expect(asks(id, marked, false)).toBe(false));

  test.each([
    'github:delete_repo',
    'mail:send',
    'bank:pay',
    'bank:create_payment',
    'db:drop_table',
    'notion:API-delete-a-block',
    'notion:API-post-page',
    'crm:get_or_create',
    'crm:read_and_delete',
    'news:unsubscribe_list',
    'shop:frobnicate',
    'web:browser_file_upload',
  ])('%s asks, whatever its server says about openWorldHint', (id) => {
    expect(asks(id)).toBe(true);
    expect(asks(id, { ...marked, openWorldHint: false }, false)).toBe(true);
  });

  test('a change that stays on this machine does not ask, unless it cannot be undone', () => {
    const closed = { ...marked, openWorldHint: false };
    for (const id of ['filesystem:write_file', 'memory:delete_entities']) {
      expect(asks(id, closed)).toBe(false);
      expect(asks(id, closed, false)).toBe(true);
      expect(asks(id, marked)).toBe(true);
    }
    for (const id of ['db:drop_table', 'disk:format', 'desk:execute_command', 'mail:send_message'])
      expect(asks(id, closed)).toBe(true);
  });
});

test('[POLICY-2] without a rule a tool marked destructive asks, all others follow the default', () => {
  expect(decide(OPEN, tool()).action).toBe('allow');
  expect(decide(OPEN, tool({ destructiveHint: true })).action).toBe('ask');
  expect(decide({ ...OPEN, default: 'deny' }, tool({ destructiveHint: true })).action).toBe('deny');
  expect(decide({ ...OPEN, default: 'ask' }, tool({ readOnlyHint: true })).action).toBe('ask');
});

test('[POLICY-3] the careful profile asks for everything not marked read-only', () => {
  const careful: PermissionRules = { ...OPEN, profile: 'careful' };
  expect(decide(careful, tool()).action).toBe('ask');
  expect(decide(careful, tool({ readOnlyHint: true })).action).toBe('allow');
  expect(decide({ ...careful, allow: ['github:*'] }, tool()).action).toBe('allow');
});

test('[POLICY-4] a verdict names the rule that made it', () => {
  expect(decide({ ...OPEN, ask: ['github:delete_*'] }, tool()).reason).toContain('github:delete_*');
});

test('[POLICY-5] a glob matches the whole id, and only * and ? are special', () => {
  expect(matchesGlob('a.b:c+(d)', 'a.b:c+(d)')).toBe(true);
  expect(matchesGlob('a.b:*', 'axb:c')).toBe(false);
  expect(matchesGlob('git:delete', 'git:delete_all')).toBe(false);
  expect(matchesGlob('git:?et', 'git:get')).toBe(true);
  expect(matchesGlob('*', 'any\nthing')).toBe(true);
});

test('[CAT-15] a diff has every line of both texts, in order, and marks removed and added lines', () => {
  expect(diffLines('Reads a file. Gives text.', 'Reads a file. Sends it away. Gives text.')).toEqual([
    '  Reads a file.',
    '+ Sends it away.',
    '  Gives text.',
  ]);
  expect(diffLines({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual([
    '  {',
    '    "a": 1,',
    '-   "b": 2',
    '+   "b": 3',
    '  }',
  ]);
  expect(diffLines(undefined, 'New')).toEqual(['+ New']);
  const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
  fc.assert(
    fc.property(words, words, (one, other) => {
      const told = diffLines(one.join('\n'), other.join('\n'));
      const side = (marks: string) =>
        told.filter((line) => marks.includes(line[0]!)).map((line) => line.slice(2));
      expect(side(' -').join('\n')).toBe(one.join('\n'));
      expect(side(' +').join('\n')).toBe(other.join('\n'));
    }),
    { seed: proofSeed() },
  );
  const long = Array.from({ length: 1_000 }, (_, at) => `line ${at}`).join('\n');
  expect(diffLines(long, long)).toHaveLength(2_000);
});

test('[POLICY-6] the fingerprint of a call changes with any argument, and not with the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const same = canonicalJson(a) === canonicalJson(b);
      expect(callFingerprint('s:t', 'h', a) === callFingerprint('s:t', 'h', b)).toBe(same);
      expect(JSON.parse(canonicalJson(a))).toEqual(JSON.parse(JSON.stringify(a)));
    }),
    { seed: proofSeed() },
  );
  expect(canonicalJson({ b: 1, a: { d: 2, c: 3 } })).toBe(canonicalJson({ a: { c: 3, d: 2 }, b: 1 }));
  expect(callFingerprint('s:t', 'h', {})).not.toBe(callFingerprint('s:t', 'other definition', {}));
});
