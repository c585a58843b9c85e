import type { Random } from '../../src/core/numeric/random.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';

/** What servers change, beside those that change nothing that matters. */
export const MUTATIONS = ['renamed', 'type', 'required', 'unit', 'paging'] as const;
export type Mutation = (typeof MUTATIONS)[number];

interface Field {
  name: string;
  kind: 'text' | 'number' | 'flag' | 'object' | 'list' | 'either';
  /** Share of answers that have it, and of those in which it is null. */
  readonly rate: number;
  readonly nulls: number;
  /** Of a number: mean and deviation of its log10, and what it is multiplied with. */
  readonly centre: number;
  readonly spread: number;
  factor: number;
  readonly fields: Field[];
}

const NAMES =
  'id name title status owner city street price amount total weight length width height speed level rate score label created updated kind version region tags notes address contact phone summary state author branch size duration distance temperature'.split(
    ' ',
  );
/** Old and new units: metres and feet, kilograms and pounds, dollars and cents, seconds, minutes, bytes, shares. */
const FACTORS = [3.28084, 2.20462, 100, 0.01, 1000, 0.001, 60, 1 / 60, 3600, 1024, 1 / 1024, 25.4];

/** A server with one tool, `ask`, that answers in a shape of its own. */
export interface ChangingServer {
  readonly server: MemoryServer;
  /** Arguments as a client that knows the current definition would give them. */
  question(): JsonObject;
  change(what: Mutation | 'nothing'): void;
}

export function changingServer(name: string, random: Random): ChangingServer {
  const chance = (share: number) => random.next() < share;
  const pick = <T>(of: readonly T[]) => of[random.int(of.length)]!;
  const unused = random.shuffle([...NAMES]);
  const newField = (depth: number, kind?: Field['kind']): Field => {
    const kinds = ['text', 'text', 'number', 'number', 'flag', 'either'] as const;
    const chosen = kind ?? (depth < 2 && chance(0.25) ? pick(['object', 'list'] as const) : pick(kinds));
    const isLarge = chosen === 'object' || chosen === 'list';
    return {
      name: unused.pop() ?? `field_${'abcdefgh'[random.int(8)]}${'abcdefgh'[random.int(8)]}`,
      kind: chosen,
      rate: chance(0.6) ? 1 : pick([0.95, 0.8, 0.5, 0.2]),
      nulls: chance(0.8) ? 0 : pick([0.1, 0.4]),
      centre: random.next() * 4 - 1,
      spread: 0.05 + random.next() * 0.35,
      factor: 1,
      fields: isLarge ? Array.from({ length: 2 + random.int(4) }, () => newField(depth + 1)) : [],
    };
  };
  const sure = (kind: Field['kind']): Field => ({ ...newField(2, kind), rate: 1, nulls: 0 });
  const isList = chance(0.35);
  const fields = [
    sure('text'),
    sure('number'),
    ...Array.from({ length: 1 + random.int(6) }, () => newField(0)),
  ];
  const questions = pick([0, 5, 1000]);
  const hasMode = chance(0.4);
  const hasLimit = isList && chance(0.5);
  const wordy: Field = sure('text');
  let pages: string | null = null;
  let wrapper: string | null = null;
  let required: string | null = null;
  let description = `Answers number ${random.int(1000)}`;
  const optional: string[] = [];

  const text = () => pick(['red', 'a longer text', 'north', 'x-17', 'open', 'two words']);
  const givenFor = (field: Field): unknown => {
    if (chance(field.nulls)) return null;
    switch (field.kind) {
      case 'text':
        return text();
      case 'flag':
        return chance(0.5);
      case 'number':
        return Number((field.factor * 10 ** (field.centre + field.spread * random.normal())).toPrecision(6));
      case 'either':
        return chance(0.5) ? text() : random.int(50);
      case 'object':
        return objectOf(field.fields);
      case 'list':
        return Array.from({ length: chance(0.2) ? 0 : 1 + random.int(4) }, () => objectOf(field.fields));
    }
  };
  const objectOf = (own: readonly Field[]): JsonObject =>
    Object.fromEntries(
      own.flatMap((field) => (chance(field.rate) ? [[field.name, givenFor(field)] as const] : [])),
    );
  const answer = (args: JsonObject): unknown => {
    const own = args.verbose === true ? [...fields, wordy] : fields;
    const items = chance(0.15) ? 0 : 1 + random.int(Math.min(6, Number(args.limit ?? 6)));
    const plain = isList ? Array.from({ length: items }, () => objectOf(own)) : objectOf(own);
    if (pages !== null) return { [pages]: plain, next_cursor: chance(0.5) ? 'abc' : null, total: items };
    return wrapper === null ? plain : { [wrapper]: plain };
  };
  const schema = () => ({
    type: 'object',
    properties: {
      ...(questions > 0 && { query: { type: 'string' } }),
      ...(hasMode && { verbose: { type: 'boolean' } }),
      ...(hasLimit && { limit: { type: 'integer' } }),
      ...Object.fromEntries(optional.map((each) => [each, { type: 'string' }])),
      ...(required !== null && { [required]: { type: 'string' } }),
    },
    required: [...(questions > 0 ? ['query'] : []), ...(required === null ? [] : [required])],
  });
  const call = (args: JsonObject) => {
    const isRefused = required !== null && args[required] === undefined;
    const complaint = isRefused ? `${required} is required` : chance(0.03) ? 'try again later' : null;
    if (complaint !== null) return { content: [{ type: 'text' as const, text: complaint }], isError: true };
    const given = chance(0.02) ? { error: 'not found' } : answer(args);
    return { content: [{ type: 'text' as const, text: JSON.stringify(given) }] };
  };

  const changes: Record<Mutation | 'nothing', () => void> = {
    renamed() {
      const field = pick(fields.filter(({ rate }) => rate >= 0.95));
      field.name = pick(['value', 'item', `${field.name}_v`, `${field.name}Text`, 'identifier']);
    },
    type() {
      const field = pick(
        fields.filter(({ rate, nulls, kind }) => rate >= 0.95 && nulls === 0 && kind !== 'either'),
      );
      const others = (['text', 'number', 'flag', 'object', 'list'] as const).filter(
        (kind) => kind !== field.kind,
      );
      field.kind = pick(others);
      if (field.fields.length === 0) field.fields.push(sure('text'), sure('flag'));
    },
    required() {
      required = pick(['tenant', 'unit_system', 'api_version', 'workspace']);
    },
    unit() {
      const factor = pick(FACTORS);
      for (const field of fields.filter(({ kind, rate }) => kind === 'number' && rate >= 0.95))
        field.factor = factor;
    },
    paging() {
      if (isList || chance(0.5)) pages = pick(['items', 'results', 'data']);
      else wrapper = pick(['data', 'result', 'response']);
    },
    /** What servers do all the time: other words, a new optional argument, a new field. */
    nothing() {
      const kind = random.int(4);
      if (kind === 0) description = `${description}, reworded`;
      if (kind === 1) optional.push('locale');
      if (kind === 2) fields.push({ ...newField(2, 'text'), name: 'added' });
    },
  };
  return {
    server: {
      name,
      get tools() {
        return [{ definition: { name: 'ask', description, inputSchema: schema() }, call }];
      },
    },
    question: () => ({
      ...(questions > 0 && { query: `q${random.int(questions)}` }),
      ...(hasMode && chance(0.3) && { verbose: true }),
      ...(hasLimit && chance(0.5) && { limit: 1 + random.int(20) }),
      ...(optional.length > 0 && chance(0.5) && { locale: 'en' }),
      ...(required !== null && { [required]: text() }),
    }),
    change: (what) => changes[what](),
  };
}
