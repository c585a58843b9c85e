import {
  type Answer,
  addMagnitude,
  below,
  breaksToo,
  type FieldSeen,
  type FieldType,
  type Magnitudes,
  nameOf,
  parentOf,
  unitShift,
} from './answer-shape.ts';

const DEFAULTS = {
  /** Answers before anything can be odd. */
  least: 5,
  /** Fields, things asked for, questions and numbers that are kept of one tool. */
  fields: 120,
  asked: 96,
  questions: 128,
  numbers: 24,
  /** Answers that wait until it is known whether they are a change or variety. */
  recent: 16,
  /** Share of answers that must have had a field for its absence to be odd. */
  usual: 0.9,
  /** The chance of what was seen without a change, at the most: of what never happened before, and of what did. */
  chance: 1e-4,
  chanceOfKnown: 1e-6,
  /** What is rare among arguments, as a share, may explain what is odd about an answer. */
  rare: 0.1,
  /** Answers of the old shape that end a drift. */
  back: 2,
  /** Answers of the new shape after which nothing is kept of the old one. */
  forgotten: 200,
};

export type AnswerChangeKind = 'removed' | 'renamed' | 'moved' | 'wrapped' | 'type' | 'unit';

export interface AnswerChange {
  readonly kind: AnswerChangeKind;
  readonly field: string;
  /** A sentence for people. */
  readonly words: string;
  /** One minus the chance of this without a change. */
  readonly confidence: number;
  /** What the field was: types, and for a number the medians of its log10 before and after. */
  readonly types: readonly FieldType[];
  readonly sizes?: readonly [before: number, after: number];
}

export interface AnswerDrift {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Answers of the old shape that it is told from. */
  readonly answers: number;
  readonly changes: readonly AnswerChange[];
}

interface FieldTally {
  seen: number;
  /** Of them, to a question that had not been asked before. */
  fresh: number;
  types: Partial<Record<FieldType, number>>;
}

interface Settled {
  answers: number;
  /** To a question that had not been asked before. */
  fresh: number;
  /** Hashes, the newest. */
  questions: number[];
  asked: Record<string, number>;
  fields: Record<string, FieldTally>;
}

/** What a tool's answers look like, with how often each was seen. Plain JSON of bounded size. */
export interface ToolShape {
  settled: Settled;
  /** Answers since the first odd one, newest last. */
  recent: Answer[];
  /** By path; of arguments, by `?name`. */
  numbers: Record<string, Magnitudes>;
  /** What was asked for with the newest numbers. */
  asked: (readonly string[])[];
  drift: (AnswerDrift & { back: number; before: Settled }) | null;
}

export function createShape(): ToolShape {
  return { settled: nothingSettled(), recent: [], numbers: {}, asked: [], drift: null };
}

function nothingSettled(): Settled {
  return { answers: 0, fresh: 0, questions: [], asked: {}, fields: {} };
}

/**
 * Adds an answer; tells when a change begins or ends. While nothing changes, answers are taken as exchangeable: after n
 * answers with a field, r without it come in a row with a chance of r! / ((n + 2) ... (n + r + 1)) (Laplace's rule of
 * succession). Few answers thus never alarm, nor does what was missing before, what arguments explain, or what repeats
 * one question that was never asked before.
 */
export function addAnswer(shape: ToolShape, answer: Answer, now: number): 'begun' | 'ended' | null {
  if (shape.drift && isBack(shape.drift, answer)) {
    shape.drift.back++;
    if (shape.drift.back >= DEFAULTS.back) return endDrift(shape, answer);
  }
  addNumbers(shape, answer);
  shape.recent.push(answer);
  const { settled, recent } = shape;
  const odd = settled.answers < DEFAULTS.least ? [] : oddities(settled, recent);
  const unlikely = odd.filter((one) => isUnlikely(settled, one));
  const unexplained = unlikely.filter(({ run }) => !isExplained(settled, run));
  if (unexplained.length > 0) {
    // What changed at the same time belongs to it, sure or not.
    const length = Math.max(...unexplained.map(({ run }) => run.length));
    const together = odd.filter(({ run }) => run.length >= length).map((one) => worded(settled, one));
    return beginDrift(shape, merged(together), recent.slice(-length), now);
  }
  const units = settled.answers < DEFAULTS.least ? [] : unitChanges(shape);
  if (units.length > 0) return beginDrift(shape, units, recent.slice(-1), now);
  // Nothing to wait for, or variety that what was asked for explains.
  if (odd.length === 0 || unlikely.length > 0) while (recent.length > 0) settle(settled, recent.shift()!);
  else if (recent.length > DEFAULTS.recent) settle(settled, recent.shift()!);
  if (shape.drift && settled.answers >= DEFAULTS.forgotten) {
    shape.drift = null;
    return 'ended';
  }
  return null;
}

function settle(into: Settled, { question, asked, fields }: Answer): void {
  const isFresh = !into.questions.includes(question);
  into.answers++;
  if (isFresh) {
    into.fresh++;
    into.questions.push(question);
    if (into.questions.length > DEFAULTS.questions) into.questions.shift();
  }
  for (const name of asked)
    if (name in into.asked || Object.keys(into.asked).length < DEFAULTS.asked)
      into.asked[name] = (into.asked[name] ?? 0) + 1;
  for (const [path, { types }] of Object.entries(fields)) {
    let tally = into.fields[path];
    if (!tally) {
      if (Object.keys(into.fields).length >= DEFAULTS.fields) continue;
      tally = { seen: 0, fresh: 0, types: {} };
      into.fields[path] = tally;
    }
    tally.seen++;
    if (isFresh) tally.fresh++;
    for (const type of types) tally.types[type] = (tally.types[type] ?? 0) + 1;
  }
}

interface Oddity {
  readonly kind: 'removed' | 'type';
  readonly path: string;
  /** The newest answers, since the last one that was as usual. */
  readonly run: readonly Answer[];
}

/** What is odd about the newest answer, with the run of answers of which the same is odd. */
function oddities(settled: Settled, recent: readonly Answer[]): Oddity[] {
  const newest = recent.at(-1)!;
  return Object.keys(settled.fields).flatMap((path) =>
    (['removed', 'type'] as const).flatMap((kind) => {
      if (!isUsual(settled, path, kind) || fitOf(settled, kind, path, newest) === 'fits') return [];
      const lastFit = recent.findLastIndex((answer) => fitOf(settled, kind, path, answer) === 'fits');
      const run = recent.slice(lastFit + 1).filter((answer) => fitOf(settled, kind, path, answer) === 'odd');
      return run.length > 0 ? [{ kind, path, run }] : [];
    }),
  );
}

/** Neither where nothing can be told: what it is in is not there, or it is null. */
function fitOf(settled: Settled, kind: Oddity['kind'], path: string, { fields }: Answer) {
  const found = fields[path];
  if (kind === 'removed') {
    const parent = parentOf(path);
    if (found) return 'fits';
    if (parent === null || !fields[parent]?.types.includes('object')) return 'unknown';
    // Keys that are data now, or too many of them.
    return below(parent, '*') in fields ? 'unknown' : 'odd';
  }
  if (!found || found.types.length === 0) return 'unknown';
  return found.types.some((type) => settled.fields[path]?.types[type]) ? 'fits' : 'odd';
}

/** Whether there is enough to go by for the absence of a field, or another type, to be odd. */
function isUsual(settled: Settled, path: string, kind: Oddity['kind']): boolean {
  const tally = settled.fields[path]!;
  if (kind === 'type') return Object.keys(tally.types).length > 0;
  const parent = parentOf(path);
  if (parent === null || nameOf(path) === '*' || below(parent, '*') in settled.fields) return false;
  return tally.seen >= DEFAULTS.usual * objectsAt(settled, parent);
}

function objectsAt({ fields }: Settled, path: string): number {
  return fields[path]?.types.object ?? 0;
}

/** Whether chance does not explain it. What was missing before needs more. */
function isUnlikely(settled: Settled, odd: Oddity): boolean {
  const isKnown = odd.kind === 'removed' && missesOf(settled, odd.path) > 0;
  return chanceOf(settled, odd) <= (isKnown ? DEFAULTS.chanceOfKnown : DEFAULTS.chance);
}

function missesOf(settled: Settled, path: string): number {
  return Math.max(0, objectsAt(settled, parentOf(path)!) - settled.fields[path]!.seen);
}

function chanceOf(settled: Settled, { kind, path, run }: Oddity): number {
  const known = new Set(settled.questions);
  const again = run.filter(({ question }) => known.has(question)).length;
  const fresh = new Set(run.map(({ question }) => question).filter((question) => !known.has(question))).size;
  const tally = settled.fields[path]!;
  const misses = kind === 'removed' ? missesOf(settled, path) : 0;
  // A question that was asked before tells by itself; others must be many, before and now.
  const all = misses + (again > 0 ? tally.seen : tally.fresh);
  let chance = 1;
  for (let i = 0; i < again + fresh; i++) chance *= (misses + 1 + i) / (all + 2 + i);
  return chance;
}

/** All of the run asked for something that was rare before, or did without what was usual. */
function isExplained(settled: Settled, run: readonly Pick<Answer, 'asked' | 'question'>[]): boolean {
  if (run.some(({ question }) => settled.questions.includes(question))) return false;
  return isAskedOtherwise(
    settled,
    run.map(({ asked }) => asked),
  );
}

function isAskedOtherwise(settled: Settled, run: readonly (readonly string[])[]): boolean {
  const [first = [], ...others] = run;
  const inAll = first.filter((name) => others.every((asked) => asked.includes(name)));
  const isRare = (count: number) => count <= DEFAULTS.rare * settled.answers;
  if (inAll.some((name) => isRare(settled.asked[name] ?? 0))) return true;
  return Object.entries(settled.asked).some(
    ([name, count]) =>
      isRare(settled.answers - count) && !name.includes('=') && run.every((asked) => !asked.includes(name)),
  );
}

/** Says what an oddity is: what appeared at the same time tells. */
function worded(settled: Settled, odd: Oddity): AnswerChange {
  const { path, run } = odd;
  const types = Object.keys(settled.fields[path]!.types) as FieldType[];
  const base = { field: path, types, confidence: 1 - chanceOf(settled, odd) };
  const last = run.at(-1)!.fields;
  if (odd.kind === 'type') {
    const now = last[path]!.types;
    const inside = now.includes('object') ? listInside(settled, path, last) : null;
    if (inside !== null) {
      const pages = Object.keys(last).some((key) => parentOf(key) === path && PAGING.test(nameOf(key)));
      const words = `${shown(path)} was a list; the list is in ${shown(inside)} now${pages ? ', page by page' : ''}`;
      return { ...base, kind: 'wrapped', words };
    }
    const words = `${shown(path)} was ${typed(types)} and is ${typed(now)} now`;
    return { ...base, kind: now.includes('array') ? 'wrapped' : 'type', words };
  }
  const parent = parentOf(path)!;
  const fresh = Object.keys(last).filter((key) => parentOf(key) === parent && !(key in settled.fields));
  const around = fresh.find(
    (key) => below(key, nameOf(path)) in last || below(`${key}[]`, nameOf(path)) in last,
  );
  if (around !== undefined)
    return { ...base, kind: 'moved', words: `${shown(path)} is in ${shown(around)} now` };
  const other = fresh.find((key) => last[key]!.types.some((type) => types.includes(type)));
  if (other === undefined) return { ...base, kind: 'removed', words: `${shown(path)} is missing` };
  return {
    ...base,
    kind: 'renamed',
    words: `${shown(path)} is missing; ${shown(other)} appeared at the same time`,
  };
}

const PAGING = /page|cursor|next|total|count|offset|more|limit/i;

/** A list below an object whose items are what those of the list at `path` were. */
function listInside(settled: Settled, path: string, fields: Answer['fields']): string | null {
  const isList = settled.fields[path]?.types.array !== undefined;
  const items = Object.keys(settled.fields).filter((key) => parentOf(key) === `${path}[]`);
  const found = Object.entries(fields).find(
    ([key, { types }]) =>
      parentOf(key) === path &&
      types.includes('array') &&
      (items.length === 0 || items.some((item) => below(`${key}[]`, nameOf(item)) in fields)),
  );
  return isList && found ? found[0] : null;
}

/** What moved into one field together is one change. */
function merged(changes: readonly AnswerChange[]): AnswerChange[] {
  const [first, ...others] = changes.filter(({ kind }) => kind === 'moved');
  if (!first || others.length === 0) return [...changes];
  const target = first.words.slice(shown(first.field).length);
  const words = `${[first, ...others].map(({ field }) => shown(field)).join(', ')}${target.replace(' is in', ' are in')}`;
  return [...changes.filter(({ kind }) => kind !== 'moved'), { ...first, words }];
}

function addNumbers(shape: ToolShape, { question, asked, fields, sizes }: Answer): void {
  const { numbers } = shape;
  const add = (path: string, log: number) => {
    if (!(path in numbers) && Object.keys(numbers).length >= DEFAULTS.numbers) return;
    numbers[path] ??= { logs: [], questions: [] };
    addMagnitude(numbers[path], log, question);
  };
  for (const [path, { size }] of Object.entries<FieldSeen>(fields)) if (size !== undefined) add(path, size);
  for (const [name, size] of Object.entries(sizes)) add(`?${name}`, size);
  shape.asked.push(asked);
  if (shape.asked.length > DEFAULTS.recent) shape.asked.shift();
}

function unitChanges({ settled, numbers, asked }: ToolShape): AnswerChange[] {
  const entries = Object.entries(numbers);
  return entries.flatMap(([path, magnitudes]) => {
    const shift = path.startsWith('?') ? null : unitShift(magnitudes);
    if (!shift) return [];
    const { length, factor, before, after, chance } = shift;
    if (entries.some(([name, other]) => name.startsWith('?') && breaksToo(other, length))) return [];
    const isRepeated = magnitudes.questions
      .slice(-length)
      .some((question) => magnitudes.questions.slice(0, -length).includes(question));
    if (!isRepeated && isAskedOtherwise(settled, asked.slice(-length))) return [];
    const times = factor >= 1 ? `${brief(factor)} times as large` : `${brief(1 / factor)} times smaller`;
    return {
      kind: 'unit' as const,
      field: path,
      words: `numbers in ${shown(path)} are about ${times} as before`.replace('smaller as', 'smaller than'),
      confidence: 1 - chance,
      types: ['number' as const],
      sizes: [before, after] as const,
    };
  });
}

function beginDrift(
  shape: ToolShape,
  changes: readonly AnswerChange[],
  since: readonly Answer[],
  now: number,
): 'begun' {
  const { settled: before, drift } = shape;
  const earlier = drift?.changes.filter(({ field }) => !changes.some((one) => one.field === field)) ?? [];
  shape.drift = { since: now, answers: before.answers, changes: [...earlier, ...changes], back: 0, before };
  shape.settled = nothingSettled();
  for (const answer of since) settle(shape.settled, answer);
  shape.recent = [];
  shape.numbers = {};
  shape.asked = [];
  for (const answer of since) addNumbers(shape, answer);
  return 'begun';
}

/** Whether an answer has everything that changed as it was; the count of those in a row begins again where it has not. */
function isBack(drift: NonNullable<ToolShape['drift']>, { fields }: Answer): boolean {
  let known = 0;
  for (const { kind, field, types, sizes } of drift.changes) {
    const found = fields[field];
    const parent = parentOf(field);
    const isThere = parent === null || fields[parent]?.types.includes('object');
    if (!isThere) continue;
    const isOld =
      kind === 'unit'
        ? found?.size !== undefined && isNearer(found.size, sizes!)
        : found?.types.some((type) => types.includes(type));
    if (!isOld && (kind === 'unit' ? found?.size === undefined : found?.types.length === 0)) continue;
    if (!isOld) {
      drift.back = 0;
      return false;
    }
    known++;
  }
  return known > 0;
}

function isNearer(size: number, [before, after]: readonly [number, number]): boolean {
  return Math.abs(size - before) < Math.abs(size - after);
}

/** Both shapes are known from now on. */
function endDrift(shape: ToolShape, answer: Answer): 'ended' {
  const { before } = shape.drift!;
  const { settled } = shape;
  shape.drift = null;
  shape.recent = [];
  shape.numbers = {};
  shape.asked = [];
  for (const [path, tally] of Object.entries(settled.fields)) {
    before.fields[path] ??= { seen: 0, fresh: 0, types: {} };
    const old = before.fields[path];
    old.seen += tally.seen;
    old.fresh += tally.fresh;
    for (const [type, count] of Object.entries(tally.types))
      old.types[type as FieldType] = (old.types[type as FieldType] ?? 0) + count;
  }
  for (const [name, count] of Object.entries(settled.asked))
    before.asked[name] = (before.asked[name] ?? 0) + count;
  before.answers += settled.answers;
  before.fresh += settled.fresh;
  before.questions = [...new Set([...before.questions, ...settled.questions])].slice(-DEFAULTS.questions);
  shape.settled = before;
  settle(before, answer);
  addNumbers(shape, answer);
  return 'ended';
}

function shown(path: string): string {
  return path === '' ? 'the answer' : `"${path}"`;
}

const TYPED: Record<FieldType, string> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
};

function typed(types: readonly FieldType[]): string {
  return types.map((type) => TYPED[type]).join(' or ');
}

function brief(factor: number): string {
  return String(factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(2)));
}
