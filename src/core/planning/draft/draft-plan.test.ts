import { describe, expect, test } from 'vitest';
import { mean } from '../../learning/gate/metrics.ts';
import { Candidates, type IntentForms } from '../../learning/ranker/candidates.ts';
import { Familiarity } from '../../learning/ranker/familiarity.ts';
import type { Ranker } from '../../learning/ranker/ranker.ts';
import { normalise } from '../../numeric/matrices.ts';
import { createRandom } from '../../numeric/random.ts';
import { words } from '../../retrieval/words.ts';
import { draftPlan, judgePlans, type PlanningPast } from './draft-plan.ts';
import { createEdgeTexts } from './edge-features.ts';
import { PlanHistory, type PlannedRun } from './plan-history.ts';
import type { PlanNets } from './plan-model.ts';
import { PlanRecord } from './plan-record.ts';
import type { SmallNet } from './small-net.ts';
import { closestRun, replayPlans, textPlan, usualSizes } from './unlearned-plans.ts';

const DIMENSION = 24;
const random = createRandom(11);
const unit = () => normalise(Float32Array.from({ length: DIMENSION }, () => random.normal()));
const near = (vector: Float32Array, share: number) => {
  const other = unit();
  return normalise(vector.map((value, i) => share * value + (1 - share) * other[i]!));
};

const NAMES = [
  'send_invoice',
  'find_customer',
  'void_invoice',
  'forecast_weather',
  'open_ticket',
  'write_poem',
];
const tools = Array.from({ length: 30 }, (_, i) => {
  const name = NAMES[i] ?? `unrelated_${i}`;
  return { id: `s:${name}`, server: 's', name, words: words(name), vector: unit() };
});
const candidates = new Candidates(tools, [], DIMENSION);
const JOB = unit();
const FAR = unit();

function forms(text: string, intent: Float32Array): IntentForms {
  return { text, intent, clauses: [intent], words: words(text) };
}

const jobRuns: PlannedRun[] = Array.from({ length: 5 }, (_, i) => ({
  ...forms(`send customer ${i} the invoice`, near(JOB, 0.9)),
  uses: [1, 0],
  edges: [[1, 0]],
  key: `run ${i}`,
}));

/** Work of many kinds. */
const OTHER_RUNS: PlannedRun[] = Array.from({ length: 40 }, (_, i) => ({
  ...forms(`do work ${i}`, unit()),
  uses: [8 + (i % 20), 8 + ((2 * i + 1) % 21)],
  edges: [],
  key: `other ${i}`,
}));

function pastOf(runs: readonly PlannedRun[]): PlanningPast {
  return {
    candidates,
    history: new PlanHistory(runs, candidates.size, DIMENSION),
    texts: createEdgeTexts(
      candidates,
      tools.map(({ words: name }) => ({ name, parameters: [] })),
    ),
    ranker: null,
    nets: null,
    trustIn: () => 0.9,
  };
}

describe('[GROUND-1] a plan rests on evidence', () => {
  test('runs of the same kind, with those that support it', () => {
    const plan = draftPlan(pastOf(jobRuns), forms('please send Ada the invoice', near(JOB, 0.9)));
    expect(plan.basis).toBe('runs');
    expect(plan.tools.map(({ place }) => place)).toEqual([1, 0]);
    expect(plan.support).toBe(5);
  });

  test('the identical intent gets what was done then, whatever its wording', () => {
    const asked = forms('forecast the weather', JOB);
    const plan = draftPlan(pastOf([{ ...asked, uses: [4], edges: [], key: 'same' }]), asked);
    expect(plan).toMatchObject({ basis: 'runs', confidence: 0.9 });
    expect(plan.tools.map(({ place }) => place)).toEqual([4]);
  });

  test('otherwise tools whose text fits', () => {
    const plan = draftPlan(pastOf(jobRuns), forms('forecast the weather', near(tools[3]!.vector, 0.7)));
    expect(plan).toMatchObject({ basis: 'text', support: 0 });
    expect(plan.tools[0]!.place).toBe(3);
  });

  test('otherwise nothing', () => {
    const plan = draftPlan(pastOf(jobRuns), forms('zzz', new Float32Array(DIMENSION)));
    expect(plan).toMatchObject({ basis: 'nothing', tools: [], confidence: 0, support: 0 });
  });
});

test('[GROUND-1] work that no past run did is suggested, but has no supporting runs', () => {
  for (const text of ['burn the invoice of Ada', 'send a poem about the invoice']) {
    const plan = draftPlan(pastOf(jobRuns), forms(text, near(JOB, 0.95)));
    expect(plan.support, text).toBe(0);
    expect(plan.confidence, text).toBeLessThanOrEqual(0.5);
  }
});

test('[GROUND-5] a plan from runs is less confident where a newer tool fits that these runs could not know', () => {
  const past = pastOf([...jobRuns, ...OTHER_RUNS]);
  const weather = tools[3]!.vector;
  const between = normalise(JOB.map((value, i) => value + 0.6 * weather[i]!));
  const query = forms('please forecast the weather', between);
  const confidenceWith = (news: readonly number[]) => {
    const logits = new Float32Array(candidates.size);
    const ranking = {
      text: candidates.textScores(query),
      logits,
      learned: logits,
      familiarity: 1,
      nearness: 1,
      news,
    };
    const ranker = { rank: () => ranking, familiarity: new Familiarity(0.5, 0, 1) } as unknown as Ranker;
    return draftPlan({ ...past, ranker }, query);
  };
  const best = candidates.textScores(query).fused;
  const fitting = best.indexOf(Math.max(...best));
  expect([0, 1]).not.toContain(fitting);
  const [known, unknown] = [confidenceWith([]), confidenceWith([fitting])];
  expect([known.basis, unknown.basis]).toEqual(['runs', 'runs']);
  expect(unknown.confidence).toBeLessThan(0.7 * known.confidence);
});

describe('[GROUND-2] runs of the opposite work are not evidence', () => {
  test.each(['do not send Ada the invoice', 'void the invoice of Ada', 'stop sending invoices'])(
    '%s',
    (text) => {
      const plan = draftPlan(pastOf(jobRuns), forms(text, near(JOB, 0.95)));
      expect(plan.basis).not.toBe('runs');
      expect(plan.support).toBe(0);
      expect(plan.confidence).toBeLessThanOrEqual(0.5);
    },
  );

  test('text alone does not suggest forbidden work with a confidence above one half', () => {
    const weather = near(tools[3]!.vector, 0.9);
    const asked = draftPlan(pastOf(jobRuns), forms('forecast the weather', weather));
    expect(asked.confidence).toBeGreaterThan(0.5);
    const forbidden = draftPlan(pastOf(jobRuns), forms('do not forecast the weather', weather));
    expect(forbidden).toMatchObject({ basis: 'text', confidence: 0.5 });
  });

  test('nor the tools of runs that do not count as the same work', () => {
    const other = draftPlan(pastOf(jobRuns), forms('send invoice', near(tools[0]!.vector, 0.95)));
    expect(other.confidence).toBeLessThanOrEqual(0.5);
  });

  test('an intent that only forbids past work asks for nothing', () => {
    for (const text of [
      'do not send Ada the invoice',
      'no invoice for Ada, please',
      'never bill Ada again',
    ]) {
      const plan = draftPlan(pastOf(jobRuns), forms(text, near(JOB, 0.95)));
      expect(plan, text).toMatchObject({ basis: 'nothing', tools: [], confidence: 0 });
    }
    const reminded = draftPlan(pastOf(jobRuns), forms('do not forget to send Ada the invoice', JOB));
    expect(reminded.tools.map(({ place }) => place)).toEqual([1, 0]);
  });

  test('text does not choose a tool that was only used for the opposite', () => {
    const like = () => near(tools[0]!.vector, 0.9);
    const runs = jobRuns.map((run) => ({ ...run, intent: like() }));
    const asked = forms('revoke the invoice of Ada', like());
    const placesAfter = (past: readonly PlannedRun[]) =>
      draftPlan(pastOf(past), asked).tools.map(({ place }) => place);
    expect(placesAfter([])).toContain(0);
    expect(placesAfter(runs)).not.toContain(0);
    expect(placesAfter([...runs, { ...runs[0]!, text: 'the invoice of Ada' }])).toContain(0);
  });

  test('unless other runs did exactly that', () => {
    const voided: PlannedRun = {
      ...forms('void the invoice of Grace', near(JOB, 0.95)),
      uses: [2],
      edges: [],
      key: 'void',
    };
    const plan = draftPlan(pastOf([...jobRuns, voided]), forms('void the invoice of Ada', near(JOB, 0.95)));
    expect(plan.tools.map(({ place }) => place)).toEqual([2]);
  });
});

test('[GROUND-3] a plan is no longer than twelve tasks, unless a similar run was', () => {
  const long: PlannedRun = {
    ...forms('prepare the whole week', near(JOB, 0.95)),
    uses: Array.from({ length: 20 }, (_, i) => i),
    edges: [],
    key: 'long',
  };
  const plan = draftPlan(pastOf([long]), forms('prepare the whole week', long.intent));
  expect(plan.tools).toHaveLength(20);
});

describe('[GROUND-4] plans by text', () => {
  test('tools with similar texts are not planned together', () => {
    const twins = [0, 1].map((i) => ({ ...tools[3]!, id: `t${i}:forecast_weather`, server: `t${i}` }));
    const offered = new Candidates([...twins, ...tools.slice(4)], [], DIMENSION);
    const query = forms('forecast the weather', near(tools[3]!.vector, 0.9));
    const plan = textPlan(query, offered.textScores(query), offered, [2]);
    expect(plan.tools.filter(({ place }) => place < 2)).toHaveLength(1);
  });

  test('confidence exceeds one half only where the best tool is nearly certain', () => {
    const scores = (best: number, second = 0.05) => {
      const fused = Float64Array.from(tools, (_, i) => [best, second][i] ?? 0.05);
      return { fused, whole: fused, lexical: fused };
    };
    expect(textPlan({ words: [] }, scores(0.5, 0.49), candidates, [1]).confidence).toBeLessThanOrEqual(0.5);
    expect(textPlan({ words: [] }, scores(0.5), candidates, [1]).confidence).toBeGreaterThan(0.5);
    expect(textPlan({ words: [] }, scores(0.9), candidates, [1]).confidence).toBeGreaterThan(0.5);
    // Of two that are as good as certain, either may be meant.
    expect(textPlan({ words: [] }, scores(0.9, 0.89), candidates, [1]).confidence).toBeLessThanOrEqual(0.5);
    expect(textPlan({ words: [] }, scores(0.1), candidates, [1]).tools).toEqual([]);
  });

  test('a tool whose full name is mentioned is chosen where there are few to compare it with', () => {
    const only = new Candidates([{ ...tools[3]!, vector: null }], [], DIMENSION);
    const query = forms('forecast the weather for me', new Float32Array(DIMENSION));
    expect(textPlan(query, only.textScores(query), only, [2]).tools).toHaveLength(1);
  });

  test('where runs use one tool, one that is likely right leaves little for others', () => {
    const fused = Float64Array.from(tools, (_, i) => [0.6, 0.58][i] ?? 0.05);
    const planned = (usual: number) =>
      textPlan({ words: [] }, { fused, whole: fused, lexical: fused }, candidates, [usual]);
    expect(planned(4).tools.length).toBeGreaterThan(1);
    expect(planned(1).tools.map(({ place }) => place)).toEqual([0]);
    const [best, ...others] = [...planned(1).tools, ...planned(1).rest];
    expect(others.reduce((sum, { chance }) => sum + chance, best!.chance)).toBeCloseTo(1);
  });

  test('the usual number of tools is learned from runs', () => {
    expect(mean(usualSizes([]))).toBe(2.5);
    const long = Array.from({ length: 100 }, () => ({ uses: [1, 2, 3, 4, 5, 6] }));
    expect(mean(usualSizes(long))).toBeGreaterThan(5.5);
  });
});

test('[PLAN-18] a copied plan with a good record is also used far from past runs, with little confidence', () => {
  const outcome = { closeness: 0.5, isOther: false, copied: 1, byChance: 0, learned: null, text: null };
  const query = forms('zzz', normalise(JOB.map((value, i) => value + 8 * FAR[i]!)));
  const cosine = Math.max(...pastOf(jobRuns).history.cosines(query.intent));
  expect(cosine).toBeGreaterThan(0.2);
  expect(cosine).toBeLessThan(0.45);
  const before = draftPlan(pastOf(jobRuns), query);
  expect(before.tools.map(({ place }) => place)).not.toEqual([1, 0]);
  const record = new PlanRecord(Array.from({ length: 20 }, () => ({ ...outcome, closeness: cosine })));
  const plan = draftPlan({ ...pastOf(jobRuns), record }, query);
  expect(plan.tools.map(({ place }) => place)).toEqual([1, 0]);
  expect(plan).toMatchObject({ basis: 'runs', support: 0 });
  expect(plan.confidence).toBeLessThanOrEqual(0.4);
  const confidenceWith = (copied: number, asked = query) => {
    const elsewhere = { closeness: cosine, copied };
    const outcomes = record.outcomes.map((each) => ({ ...each, elsewhere }));
    return draftPlan({ ...pastOf(jobRuns), record: new PlanRecord(outcomes) }, asked).confidence;
  };
  expect(confidenceWith(0.7)).toBeCloseTo((2 * 0.4 + 20 * 0.7) / 22);
  expect(confidenceWith(0)).toBeLessThan(0.1);
  // No more than the work is trusted to succeed.
  expect(confidenceWith(1)).toBe(0.9);
});

test('[PLAN-30] a run that asked for the same is copied, however modest learned plans have been so far', () => {
  const always = (chance: number) => ({ chance: () => chance }) as unknown as SmallNet;
  const logits = Float32Array.from({ length: candidates.size }, (_, place) => -place);
  const query = forms('send them the invoice', jobRuns[0]!.intent);
  const ranking = {
    text: candidates.textScores(query),
    logits,
    learned: logits,
    familiarity: 1,
    nearness: 1,
    news: [],
  };
  const nets: PlanNets = {
    ordered: 0,
    guess: always(0.5),
    // The first tool belongs, the second one does not.
    membership: [{ chance: (_: Float32Array, at: number) => (at === 0 ? 0.9 : 0.1) } as unknown as SmallNet],
    confidence: always(0.8),
    edges: always(0),
    form: 'graph',
    calibration: null,
  };
  const outcome = { closeness: 1, isOther: false, copied: 0.95, byChance: 0, text: null };
  const past = {
    ...pastOf([...jobRuns, ...OTHER_RUNS]),
    ranker: { rank: () => ranking, familiarity: new Familiarity(0.5, 0, 1) } as unknown as Ranker,
    nets,
    trustIn: () => 0.5,
    record: new PlanRecord(
      Array.from({ length: 20 }, () => ({ ...outcome, learned: { expected: 0.5, f1: 1 } })),
    ),
  };
  const plan = draftPlan(past, query);
  expect(plan.tools.map(({ place }) => place).sort()).toEqual([0, 1]);
});

test('[PLAN-18] a run records how good a copy of another job was', () => {
  const other = {
    ...forms('send the customer a poem', near(JOB, 0.9)),
    uses: [1, 5],
    edges: [],
    key: 'poem',
  };
  const past = pastOf([...jobRuns, other]);
  const run = { ...jobRuns[0]!, ...forms('send customer 9 the invoice', near(JOB, 0.9)), key: 'run 9' };
  const outcome = judgePlans(past, run)!;
  expect(outcome.copied).toBe(1);
  expect(outcome.elsewhere!.copied).toBe(0.5);
  expect(judgePlans(pastOf(jobRuns), run)!.elsewhere).toBeUndefined();
  // Runs that nothing was noted down of are replayed.
  const replayed = replayPlans(past).outcomes;
  expect(replayed.flatMap(({ elsewhere }) => elsewhere?.copied ?? [])).toEqual([0.5]);
});

test('[PLAN-18] a run of a new job records how good the text plan was, and later text plans say so', () => {
  const weather = tools[3]!.vector;
  const run = (uses: readonly number[]) => ({
    ...forms('forecast the weather', normalise(JOB.map((value, i) => value + weather[i]!))),
    ...{ uses, edges: [], key: 'weather' },
  });
  const { expected, f1 } = judgePlans(pastOf(jobRuns), run([3]))!.textOfFirst!;
  expect(expected).toBeGreaterThan(0);
  expect(f1).toBeGreaterThan(0.5);
  expect(judgePlans(pastOf([...jobRuns, run([3])]), run([3]))!.textOfFirst).toBeUndefined();
  // Runs that nothing was noted down of are replayed.
  const { outcomes } = replayPlans(pastOf([...jobRuns, run([3])]));
  expect(outcomes.flatMap((each) => each.textOfFirst ?? [])).toHaveLength(1);
  const query = forms('write a poem about the forecast', near(tools[5]!.vector, 0.9));
  const confidenceWith = (was: number) => {
    const record = new PlanRecord(
      Array.from({ length: 20 }, () => ({ ...outcomes[0]!, textOfFirst: { expected: 0.5, f1: was } })),
    );
    return draftPlan({ ...pastOf(jobRuns), record }, query);
  };
  expect(confidenceWith(0.1)).toMatchObject({ basis: 'text' });
  expect(confidenceWith(0.1).confidence).toBeLessThan(confidenceWith(0.5).confidence / 2);
});

test('[PLAN-18] where a copied plan and text disagree, the one with the better record in such disputes is used', () => {
  const past = pastOf([...jobRuns, ...OTHER_RUNS]);
  const weather = tools[3]!.vector;
  const query = forms('forecast the weather', normalise(JOB.map((value, i) => value + weather[i]!)));
  const placesWith = (copied: number, f1: number) => {
    const closeness = Math.max(...past.history.cosines(query.intent));
    const text = { expected: draftText(query), f1 };
    const dispute = { closeness, isOther: false, copied, byChance: 0, learned: null, text };
    const record = new PlanRecord(Array.from({ length: 20 }, () => dispute));
    return draftPlan({ ...past, record }, query).tools.map(({ place }) => place);
  };
  expect(draftPlan(past, query)).toMatchObject({ basis: 'runs' });
  expect(placesWith(1, 0)).toEqual([1, 0]);
  expect(placesWith(0, 1)[0]).toBe(3);
});

/** What texts expect of themselves. */
function draftText(query: IntentForms): number {
  return textPlan(query, candidates.textScores(query), candidates, usualSizes([])).confidence;
}

test('[PLAN-18] a run records how good the text plan was where it disagreed with the copy', () => {
  const weather = tools[3]!.vector;
  const asked = (share: number, uses: readonly number[]): PlannedRun => ({
    ...forms('forecast the weather', normalise(JOB.map((value, i) => value + share * weather[i]!))),
    ...{ uses, edges: [], key: 'asked' },
  });
  expect(judgePlans(pastOf(jobRuns), asked(1, [3]))).toMatchObject({
    copied: 0,
    text: { f1: expect.any(Number) },
  });
  expect(judgePlans(pastOf(jobRuns), asked(1, [3]))!.text!.f1).toBeGreaterThan(0.5);
  const agreed: PlannedRun = {
    ...forms('send the invoice', tools[0]!.vector),
    uses: [1, 0],
    edges: [],
    key: 'x',
  };
  const runs = jobRuns.map((run) => ({ ...run, intent: near(tools[0]!.vector, 0.9) }));
  expect(judgePlans(pastOf(runs), agreed)).toMatchObject({ copied: 1, text: null });
});

describe('[PLAN-30] the run that is copied is one of the job that most speaks for', () => {
  const axis = (i: number) => Float32Array.from({ length: DIMENSION }, (_, k) => Number(k === i));
  const query = forms('', axis(0));
  /** At this cosine to the query; runs in other directions are as far from each other as may be. */
  const run = (key: string, cosine: number, direction: number, uses: number[]): PlannedRun => {
    const intent = axis(0).map(
      (value, k) => cosine * value + Math.sqrt(1 - cosine ** 2) * axis(direction)[k]!,
    );
    return { ...forms('', intent), uses, edges: [], key };
  };
  const closest = (runs: readonly PlannedRun[], isByJob = true) =>
    closestRun(pastOf(runs).history, query, () => false, isByJob)?.run;
  const three = [1, 2, 3].map((i) => run(`one ${i}`, 0.6, i, i === 2 ? [4, 5] : [5, 4]));

  test('three runs that are nearly as close outweigh a single one', () => {
    const runs = [...three, run('other', 0.62, 4, [3])];
    expect(closest(runs)).toBe(2);
    expect(closest(runs, false)).toBe(3);
    expect(closest([...three, run('other', 0.7, 4, [3])])).toBe(3);
  });

  test('unless a run was asked for the same', () => {
    const near = [1, 2, 3].map((i) => run(`one ${i}`, 0.95, i, [4]));
    expect(closest([...near, run('other', 0.96, 4, [3])])).toBe(3);
  });

  test('the same words count once, in their newest form', () => {
    const again = [1, 2, 3].map(() => run('one', 0.6, 1, [4]));
    expect(closest([...again, run('other', 0.62, 4, [3])])).toBe(3);
    expect(closest([run('one', 0.6, 1, [4]), run('one', 0.6, 1, [5])])).toBe(1);
  });

  test('as long as that has not misled in this store', () => {
    const past = pastOf([...three, run('other', 0.62, 4, [3])]);
    const asked = (uses: number[]) => ({ ...query, uses, edges: [], key: 'new' });
    const lost = judgePlans(past, asked([3]))!;
    expect(lost).toMatchObject({ copied: 1, jobGain: -1 });
    expect(judgePlans(past, asked([4, 5]))).toMatchObject({ copied: 0, jobGain: 1 });
    expect(judgePlans({ ...past, record: new PlanRecord() }, asked([4, 5]))).toMatchObject({ copied: 1 });
    expect(new PlanRecord().copiesByJob).toBe(true);
    expect(new PlanRecord([lost]).copiesByJob).toBe(false);
    expect(new PlanRecord([lost, { ...lost, jobGain: 1 }]).copiesByJob).toBe(true);
  });
});
