import { describe, expect, test } from 'vitest';
import {
  type JudgedPlan,
  PlanCalibration,
  type PlanOutcome,
  PlanRecord,
  type PlanSigns,
  type PlanWorth,
  SHIPPED_PLAN_WORTH,
} from './plan-record.ts';

const outcome = (over: Partial<PlanOutcome>): PlanOutcome => ({
  ...{ closeness: 1, isOther: false, copied: 1, byChance: 0, learned: null, text: null },
  ...over,
});
const times = (n: number, each: PlanOutcome) => Array.from({ length: n }, () => each);

test('[PLAN-18] the expected value of a copy is that of copies at the same distance', () => {
  expect(new PlanRecord().copiedAt(1, false, 0.6)).toBeCloseTo(0.6);
  const record = new PlanRecord([
    ...times(20, outcome({ copied: 1 })),
    ...times(20, outcome({ closeness: 0.4, copied: 0 })),
  ]);
  expect(record.copiedAt(1, false, 0.6)).toBeCloseTo((2 * 0.6 + 20) / 22);
  expect(record.copiedAt(0.4, false, 0.6)).toBeCloseTo(1.2 / 22);
  // Nothing is known of what lies far from both.
  expect(record.copiedAt(2, false, 0.6)).toBeCloseTo(0.6);
  // Farther from all runs than runs ever were from each other: a foreign question.
  expect(record.copiedAt(0.2, false, 0.6)).toBeLessThan(0.2);
  // What near runs ask for is looked at apart.
  expect(record.copiedAt(1, true, 0.6)).toBeCloseTo(0.7 * 0.6);
});

test('[PLAN-18] where all runs did the same, their copies prove nothing', () => {
  const alike = new PlanRecord(times(45, outcome({ closeness: 0.5, byChance: 1 })));
  expect(alike.copiedAt(0.35, false, 0.05)).toBeLessThan(0.1);
  const diverse = new PlanRecord(times(45, outcome({ closeness: 0.5 })));
  expect(diverse.copiedAt(0.35, false, 0.05)).toBeGreaterThan(0.8);
});

test('[PLAN-18] work of another kind is copied as well as other jobs were from each other', () => {
  const record = new PlanRecord([
    ...times(20, outcome({ elsewhere: { closeness: 0.8, copied: 0.7 } })),
    ...times(20, outcome({ elsewhere: { closeness: 0.3, copied: 0 } })),
    ...times(20, outcome({})),
  ]);
  expect(record.elsewhereAt(0.8, 0.4)).toBeCloseTo((2 * 0.4 + 20 * 0.7) / 22);
  expect(record.elsewhereAt(0.3, 0.4)).toBeCloseTo((2 * 0.4) / 22);
  // Jobs that have nothing in common tell nothing of each other, nor does a single job.
  expect(record.elsewhereAt(1.6, 0.4)).toBeCloseTo(0.4);
  expect(new PlanRecord(times(45, outcome({}))).elsewhereAt(0.8, 0.4)).toBe(0.4);
});

test('[PLAN-18] a copy closer than those between other jobs were is worth more', () => {
  const record = new PlanRecord(times(40, outcome({ elsewhere: { closeness: 0.4, copied: 0.4 } })));
  expect(record.elsewhereAt(0.4, 0.4)).toBeCloseTo(0.4);
  expect(record.elsewhereAt(0.5, 0.4)).toBeGreaterThan(0.46);
  expect(record.elsewhereAt(0.3, 0.4)).toBeLessThan(0.34);
  const none = new PlanRecord(times(40, outcome({ elsewhere: { closeness: 0.4, copied: 0 } })));
  expect(none.elsewhereAt(0.3, 0)).toBe(0);
});

test('[PLAN-18] texts are worth what they were for jobs that were new', () => {
  expect(new PlanRecord().textAt(0.3)).toBe(0.3);
  expect(new PlanRecord(times(40, outcome({}))).textAt(0.3)).toBe(0.3);
  const record = (f1: number, n: number) =>
    new PlanRecord(times(n, outcome({ textOfFirst: { expected: 0.3, f1 } })));
  expect(record(0.45, 40).textAt(0.3)).toBeCloseTo((0.3 * (1.5 + 40 * 0.45)) / (1.5 + 40 * 0.3));
  expect(record(0, 1).textAt(0.3)).toBeGreaterThan(0.2);
  expect(record(1, 40).textAt(0.9)).toBe(1);
});

test('[PLAN-18] a learned plan counts as far as past predictions came true, and less while there are few runs', () => {
  const empty = new PlanRecord();
  expect(empty.learnedAt(0.9, 30)).toBeLessThan(empty.learnedAt(0.9, 300));
  expect(empty.learnedAt(0.9, 3000)).toBeCloseTo(0.9, 1);
  const learned = (f1: number) => new PlanRecord(times(30, outcome({ learned: { expected: 0.9, f1 } })));
  expect(learned(0.45).learnedAt(0.9, 300)).toBeLessThan(0.55);
  expect(learned(0.9).learnedAt(0.9, 300)).toBeGreaterThan(0.85);
  expect(learned(1).learnedAt(1, 3000)).toBe(1);
});

test('[PLAN-18] only the newest outcomes count', () => {
  const old = new PlanRecord(times(200, outcome({ copied: 0 })));
  const record = times(200, outcome({ copied: 1 })).reduce((all, each) => all.with(each), old);
  expect(record.outcomes).toHaveLength(200);
  expect(record.copiedAt(1, false, 0)).toBeGreaterThan(0.98);
});

test('[PLAN-18] the gain of text over a copy is that of similar disputes, the newest above all', () => {
  const dispute = (f1: number, copied: number) => outcome({ copied, text: { expected: 0.6, f1 } });
  expect(new PlanRecord().textGain(1, 0.6, -0.2)).toBeCloseTo(-0.2);
  const record = new PlanRecord(times(30, dispute(1, 0)));
  expect(record.textGain(1, 0.6, -0.2)).toBeGreaterThan(0.7);
  // Nothing is known of copies that are closer, or of texts that expect less.
  expect(record.textGain(1.5, 0.6, -0.2)).toBeCloseTo(-0.2);
  expect(record.textGain(1, 0, -0.2)).toBeLessThan(-0.1);
  // Where both agreed there was no dispute.
  expect(new PlanRecord(times(30, outcome({ copied: 0 }))).textGain(1, 0.6, -0.2)).toBeCloseTo(-0.2);
  const changed = new PlanRecord([...times(60, dispute(1, 0)), ...times(60, dispute(0, 1))]);
  expect(changed.textGain(1, 0.6, 0)).toBeLessThan(-0.4);
});

describe('[PLAN-27] plans are rated by how plans for left-out runs turned out', () => {
  const near: PlanSigns = { expected: 0.8, nearest: 0.6, unused: 0, missed: 0 };
  const far: PlanSigns = { expected: 0.8, nearest: 0.4, unused: 1, missed: 0.5 };
  const judged = (n: number, over: Partial<JudgedPlan>): JudgedPlan[] =>
    Array.from({ length: n }, () => ({ ...near, f1: 0.8, isFar: false, ...over }));
  const both = (n: number, f1: number) => [...judged(n, {}), ...judged(n, { ...far, f1, isFar: true })];

  test('near and far plans differ', () => {
    const fitted = PlanCalibration.fit(both(2_000, 0.1))!;
    expect(fitted.at(near)).toBeCloseTo(0.8, 1);
    expect(fitted.at(far)).toBeCloseTo(0.1, 1);
    expect(fitted.at({ ...far, expected: 0.2 })).toBeLessThan(fitted.at(far));
  });

  test('with few runs plans are rated as elsewhere, and very few change nothing', () => {
    expect(PlanCalibration.fit(both(9, 0.1))).toBeNull();
    expect(PlanCalibration.fit(judged(100, {}))).toBeNull();
    const elsewhere: PlanWorth = [0, 1, 0, 0, 0];
    const at = (n: number) => PlanCalibration.fit(both(n, 0.1), elsewhere)!.at(far);
    expect(new PlanCalibration(elsewhere).at(far)).toBeCloseTo(0.8);
    expect(at(10)).toBeGreaterThan(at(100) + 0.03);
    expect(at(100)).toBeGreaterThan(at(2_000) + 0.03);
    expect(at(10)).toBeLessThan(0.8);
  });

  test('elsewhere, plans are worth less where a fitting tool that was never used is missing in them', () => {
    const shipped = new PlanCalibration(SHIPPED_PLAN_WORTH);
    expect(shipped.at({ ...near, missed: 0.9 })).toBeLessThan(shipped.at(near) - 0.1);
    expect(shipped.at({ ...near, expected: 0.4 })).toBeLessThan(shipped.at(near));
    expect(shipped.at({ ...near, nearest: 0.2 })).toBeLessThan(shipped.at(near));
  });

  test('full certainty gives finite numbers', () => {
    const sure = [
      ...judged(500, { expected: 1, f1: 1 }),
      ...judged(500, { expected: 0, f1: 0, isFar: true }),
    ];
    const fitted = PlanCalibration.fit(sure)!;
    expect(fitted.at({ ...near, expected: 1 })).toBeGreaterThan(0.9);
    expect(fitted.at({ ...near, expected: 0 })).toBeLessThan(0.1);
  });
});
