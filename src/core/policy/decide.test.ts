import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofSeed } from '../../../test/proof-count.ts';
import { toolId } from '../vocabulary/ids.ts';
import type { ToolAnnotations } from '../vocabulary/tool-definition.ts';
import {
  decide,
  LEAST_CONFIDENCE,
  type PermissionRules,
  type PlanInQuestion,
  whyNotByItself,
  whyNotCalled,
} from './decide.ts';

const OPEN: PermissionRules = {
  allow: [],
  ask: [],
  deny: [],
  auto: [],
  default: 'allow',
  profile: 'balanced',
};
const READS: ToolAnnotations = { readOnlyHint: true };
const tool = (name: string, annotations?: ToolAnnotations) => ({
  id: toolId('disk', name),
  ...(annotations && { annotations }),
});

/** A plan of one task that makes these calls, with full confidence. */
function plan(
  rules: PermissionRules,
  tools: readonly ReturnType<typeof tool>[],
  over: Partial<PlanInQuestion> = {},
) {
  const calls = tools.map((each) => ({ tool: each, verdict: decide(rules, each) }));
  return { steps: [{ name: 't1', calls }], confidence: 1, support: 1_000, missing: [], ...over };
}

test('[INTENT-1] a plan that only reads runs by itself, from a confidence of .9 and two runs on', () => {
  const reads = (over?: Partial<PlanInQuestion>) =>
    whyNotByItself(OPEN, plan(OPEN, [tool('read', READS)], over));
  expect(reads()).toEqual([]);
  expect(reads({ confidence: 0.9, support: 2 })).toEqual([]);
  expect(reads({ support: 1 })).toEqual([
    'only 1 past run like it succeeded with these tools; 2 are required',
  ]);
  expect(reads({ support: 0 })).toEqual(['no past run like it succeeded with these tools; 2 are required']);
  expect(reads({ confidence: 0.899 })).toEqual(['its confidence of 89 % is below the required 90 %']);
  expect(reads({ confidence: Number.NaN, support: Number.NaN })).toHaveLength(2);
  expect(reads({ missing: ['a', 'b'] })).toEqual(['it needs "a", "b": give them in "arguments"']);
  expect(reads({ steps: [] })).toEqual(['no known tool fits']);
});

test('[INTENT-1] a setting can require more confidence, never less', () => {
  const from = (runFrom: number, confidence: number) =>
    whyNotByItself(OPEN, plan(OPEN, [tool('read', READS)], { runFrom, confidence })).length;
  expect(from(0.95, 0.94)).toBe(1);
  expect(from(0.95, 0.95)).toBe(0);
  expect(from(0.1, LEAST_CONFIDENCE - 0.01)).toBe(1);
});

test('[POLICY-7] a tool that is not marked read-only must be named in permissions.auto', () => {
  for (const annotations of [undefined, {}, { readOnlyHint: false }, { idempotentHint: true }]) {
    const write = tool('write', annotations);
    expect(whyNotByItself(OPEN, plan(OPEN, [tool('read', READS), write]))).toEqual([
      't1 may change something: disk:write is not marked read-only, and permissions.auto does not name it',
    ]);
    const named = { ...OPEN, auto: ['disk:w*'] };
    expect(whyNotByItself(named, plan(named, [write]))).toEqual([]);
    expect(whyNotCalled(named, write)).toBeNull();
  }
});

test('[POLICY-8] deny, ask and a changed definition are stronger than permissions.auto and a read-only mark', () => {
  const [read, write] = [tool('read', READS), tool('write', { destructiveHint: true })];
  const auto = { ...OPEN, auto: ['*'] };
  for (const rules of [
    { ...auto, deny: ['disk:*'] },
    { ...auto, ask: ['disk:*'] },
    { ...auto, default: 'ask' as const },
  ]) {
    expect(whyNotByItself(rules, plan(rules, [read]))).toHaveLength(1);
    expect(whyNotByItself(rules, plan(rules, [write]))).toHaveLength(1);
  }
  // The tool asks because its server marks it as destructive; `allow` overrides that.
  expect(whyNotByItself(auto, plan(auto, [write]))).toHaveLength(1);
  const allowed = { ...auto, allow: ['disk:write'] };
  expect(whyNotByItself(allowed, plan(allowed, [write]))).toEqual([]);
  const changed = { action: 'ask', reason: 'its definition changed' } as const;
  const steps = [{ name: 't1', calls: [{ tool: read, verdict: changed }] }];
  expect(whyNotByItself(auto, plan(auto, [], { steps }))).toEqual([
    't1 would ask a person: its definition changed',
  ]);
});

test('[INTENT-4] a step with unknown calls does not run, and no confidence replaces permission for a tool', () => {
  const steps = [{ name: 't1 (code)', calls: [], problem: 'what it calls is known only at run time' }];
  expect(whyNotByItself({ ...OPEN, auto: ['*'] }, plan(OPEN, [], { steps }))).toEqual([
    't1 (code) cannot run by itself: what it calls is known only at run time',
  ]);
  fc.assert(
    fc.property(fc.double(), fc.nat(), (confidence, support) => {
      expect(whyNotByItself(OPEN, plan(OPEN, [tool('write')], { confidence, support }))).not.toEqual([]);
    }),
    { seed: proofSeed() },
  );
});
