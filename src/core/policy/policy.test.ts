import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolId } from '../vocabulary/ids.ts';
import type { ToolAnnotations } from '../vocabulary/tool-definition.ts';
import { callFingerprint, canonicalJson } from './call-hash.ts';
import { decide, matchesGlob, type PermissionRules } from './decide.ts';

const OPEN: PermissionRules = {
  allow: [],
  ask: [],
  deny: [],
  auto: [],
  default: 'allow',
  profile: 'standard',
};
const tool = (annotations?: ToolAnnotations) => ({
  id: toolId('github', 'delete_repo'),
  ...(annotations && { annotations }),
});

test('[POLICY-1] deny beats ask beats allow, whatever the tool says of itself', () => {
  const all = ['*'];
  const harmless = tool({ readOnlyHint: true });
  expect(decide({ ...OPEN, allow: all, ask: all, deny: ['github:*'] }, harmless).action).toBe('deny');
  expect(decide({ ...OPEN, allow: all, ask: ['*:delete_*'] }, harmless).action).toBe('ask');
  expect(decide({ ...OPEN, allow: all, default: 'deny' }, tool({ destructiveHint: true })).action).toBe(
    'allow',
  );
});

test('[POLICY-2] without a rule a tool that calls itself destructive asks, the rest follow the default', () => {
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

test('[POLICY-5] a glob matches the whole id, and no character but * and ? is special', () => {
  expect(matchesGlob('a.b:c+(d)', 'a.b:c+(d)')).toBe(true);
  expect(matchesGlob('a.b:*', 'axb:c')).toBe(false);
  expect(matchesGlob('git:delete', 'git:delete_all')).toBe(false);
  expect(matchesGlob('git:?et', 'git:get')).toBe(true);
  expect(matchesGlob('*', 'any\nthing')).toBe(true);
});

test('[POLICY-6] the fingerprint of a call changes with any argument, and not with the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const same = canonicalJson(a) === canonicalJson(b);
      expect(callFingerprint('s:t', 'h', a) === callFingerprint('s:t', 'h', b)).toBe(same);
      expect(JSON.parse(canonicalJson(a))).toEqual(JSON.parse(JSON.stringify(a)));
    }),
  );
  expect(canonicalJson({ b: 1, a: { d: 2, c: 3 } })).toBe(canonicalJson({ a: { c: 3, d: 2 }, b: 1 }));
  expect(callFingerprint('s:t', 'h', {})).not.toBe(callFingerprint('s:t', 'other definition', {}));
});
