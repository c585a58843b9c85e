import type { Random } from '../../src/core/numeric/random.ts';

const DEFAULTS = {
  /** Characters of a text, but for one in `longEvery`. */
  length: 3_000,
  longLength: 120_000,
  longEvery: 60,
  /** Levels of a nested value that is made as text. */
  levels: 20_000,
};

/** What has a meaning to some parser, terminal, database or browser. */
const PIECES = [
  '\0',
  '\ud800',
  '\udfff\ud83d',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\u001b[31m\u0007',
  '\r\n',
  '`${',
  '${t1.a[0]}',
  '*/',
  '/*',
  '"',
  "'",
  '\\',
  '\\u{110000}',
  '<script>',
  '../',
  '%00',
  '%f0%28%8c',
  '\u{1f642}',
  'e\u0301',
  '\u00df\u0130',
  "'; drop table x; --",
  '{"a":',
  '[',
  ']]>',
  '-----BEGIN PRIVATE KEY-----',
  'Bearer eyJhbGciOi.eyJhbGciOi.x',
  'aB_',
  'and then ',
  ' ',
  '!',
  'x',
] as const;

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
  '$ref',
  '$defs',
  '',
  'a.b[0]',
  '0',
  'id',
  'text',
] as const;

const WORDS =
  'read write list the a file folder issue and then every no not without send copy 42 notes.txt'.split(' ');

const NUMBERS = [0, -0, -1, 0.1, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21, 255] as const;
const NUMBER_TEXTS = [
  '1e999999',
  '-1e999999',
  '9'.repeat(2_000),
  `0.${'0'.repeat(2_000)}1`,
  '01',
  'NaN',
  '1e',
];

export const oneOf = <T>(random: Random, items: readonly T[]): T => items[random.int(items.length)]!;

/** Small far more often than large. */
export const upTo = (random: Random, most: number): number => Math.floor((most + 1) ** random.next()) - 1;

export function hostileText(random: Random): string {
  const { length, longLength, longEvery } = DEFAULTS;
  const most = random.int(longEvery) === 0 ? longLength : length;
  const size = upTo(random, most);
  switch (random.int(5)) {
    case 0:
      return Array.from({ length: 1 + random.int(12) }, () => oneOf(random, WORDS)).join(' ');
    case 1: {
      const piece = oneOf(random, PIECES);
      return piece.repeat(Math.ceil(size / piece.length));
    }
    case 2:
      return Array.from({ length: Math.min(size, 500) }, () =>
        String.fromCharCode(random.int(random.int(2) === 0 ? 128 : 65_536)),
      ).join('');
    case 3: {
      const middle = oneOf(random, PIECES);
      return `${oneOf(random, WORDS)}${middle.repeat(Math.ceil(size / middle.length))}${oneOf(random, PIECES)}`;
    }
    default:
      return Array.from({ length: 1 + random.int(8) }, () =>
        random.int(2) === 0 ? oneOf(random, PIECES) : oneOf(random, WORDS),
      ).join('');
  }
}

export function hostileKey(random: Random): string {
  return random.int(3) > 0 ? oneOf(random, KEYS) : hostileText(random).slice(0, 300);
}

/** Any JSON value; keys such as `__proto__` are its own. */
export function hostileValue(random: Random, depth = 4): unknown {
  switch (random.int(depth > 0 ? 8 : 5)) {
    case 0:
      return null;
    case 1:
      return random.int(2) === 0;
    case 2:
      return oneOf(random, NUMBERS);
    case 3:
    case 4:
      return hostileText(random);
    case 5:
      return Array.from({ length: upTo(random, 12) }, () => hostileValue(random, depth - 1));
    default:
      return hostileObject(random, depth);
  }
}

export function hostileObject(random: Random, depth = 3): Record<string, unknown> {
  const entry = () => [hostileKey(random), hostileValue(random, depth - 1)] as const;
  return Object.fromEntries(Array.from({ length: upTo(random, 8) }, entry));
}

/** JSON as it could be written by hand: too deep, with numbers that no value has, or broken. */
export function hostileJson(random: Random): string {
  const levels = upTo(random, DEFAULTS.levels);
  switch (random.int(8)) {
    case 0:
      return `${'['.repeat(levels)}${random.int(2) === 0 ? ']'.repeat(levels) : ''}`;
    case 1:
      return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    case 2:
      return `{"a":${oneOf(random, NUMBER_TEXTS)},"a":${oneOf(random, NUMBER_TEXTS)}}`;
    case 3:
      return hostileText(random);
    case 4:
      return JSON.stringify(hostileValue(random)).slice(0, upTo(random, 2_000));
    default:
      return JSON.stringify(hostileValue(random));
  }
}

const BAD_BYTES = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf0, 0x28, 0x8c, 0x28]),
  Buffer.from([0]),
  Buffer.from('\r\n'),
  Buffer.from('"'),
  Buffer.from('{'),
];

/** The same bytes with a few mistakes in them. */
export function damaged(random: Random, sound: Buffer): Buffer {
  let bytes = sound;
  for (let left = 1 + random.int(4); left > 0; left--) {
    const at = random.int(bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + upTo(random, 40));
    const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    switch (random.int(4)) {
      case 0:
        bytes = Buffer.concat([before, after]);
        break;
      case 1:
        bytes = Buffer.concat([before, cut, cut, after]);
        break;
      case 2:
        bytes = Buffer.concat([before, oneOf(random, BAD_BYTES), cut, after]);
        break;
      default:
        bytes = Buffer.concat([before, Buffer.from(cut.map(() => random.int(256))), after]);
    }
  }
  return bytes;
}
