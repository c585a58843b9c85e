import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { createRedactor, REDACTED } from './redact.ts';

/** Every string of a value, keys included. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => [key, ...stringsOf(item)]);
  return [];
}

const proof = { numRuns: proofRuns(3000), seed: proofSeed() };

const secretText = fc
  .string({ minLength: 6, maxLength: 40, unit: 'binary' })
  .filter((s) => s.trim().length >= 6);

/** A JSON-like value with the given text as a key, a value, or in the middle of either. */
function around(text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const inText = fc.tuple(fc.string(), text, fc.string()).map((parts) => parts.join(''));
  return fc.letrec((tie) => ({
    leaf: fc.oneof(text, inText, fc.string(), fc.integer(), fc.constant(null)),
    value: fc.oneof(
      { depthSize: 'small' },
      tie('leaf'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.string(), inText), tie('value'), { maxKeys: 4 }),
    ),
  })).value;
}

describe('known secrets', () => {
  test('[RED-1] a secret placed anywhere does not survive, nor inside JSON, a URL or base64', () => {
    const spellings = [
      (s: string) => s,
      (s: string) => JSON.stringify({ text: s }),
      (s: string) => `https://example.com/?q=${encodeURIComponent(s.toWellFormed())}`,
      (s: string) => new URLSearchParams({ q: s.toWellFormed() }).toString(),
    ];
    const placed = fc
      .tuple(secretText, fc.constantFrom(...spellings))
      .chain(([secret, spell]) =>
        fc.record({ secret: fc.constant(secret), value: around(fc.constant(spell(secret))) }),
      );
    fc.assert(
      fc.property(placed, ({ secret, value }) => {
        const shown = stringsOf(createRedactor([secret])(value));
        const query = new URLSearchParams({ q: secret.trim().toWellFormed() }).toString().slice(2);
        for (const text of shown) {
          expect(text).not.toContain(secret);
          expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
          expect(text).not.toContain(encodeURIComponent(secret.trim().toWellFormed()));
          expect(text).not.toContain(query);
        }
      }),
      proof,
    );
  });

  test('[RED-1] base64 of any text around a secret gives back nothing of it', () => {
    const word = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 30 });
    fc.assert(
      fc.property(
        word.filter((s) => s.trim() === s),
        fc.string(),
        fc.string(),
        fc.constantFrom('base64', 'base64url'),
        (secret, before, after, encoding) => {
          const encoded = Buffer.from(before + secret + after).toString(encoding as BufferEncoding);
          const shown = createRedactor([secret])(`data:${encoded}`);
          expect(shown).toContain(REDACTED);
          const rest = shown.slice('data:'.length).split(REDACTED);
          for (const part of rest)
            expect(Buffer.from(part, 'base64').toString()).not.toContain(secret.slice(2, -2));
        },
      ),
      proof,
    );
  });

  test('[RED-1] overlapping secrets leave no rest of either', () => {
    expect(createRedactor(['abcdefgh', 'efghijkl'])('x abcdefghijkl y')).toBe(`x ${REDACTED} y`);
    expect(createRedactor(['inner-1', 'outer-inner-1-outer'])('outer-inner-1-outer')).toBe(REDACTED);
  });

  test('[RED-1] a number that is a secret is hidden as a number too', () => {
    expect(createRedactor(['48151623'])({ pin: 48151623, other: 4815 })).toEqual({
      pin: REDACTED,
      other: 4815,
    });
  });

  test('[RED-1] keys that were hidden stay apart', () => {
    const shown = createRedactor(['secret-a', 'secret-b'])({ 'secret-a': 1, 'secret-b': 2 });
    expect(Object.values(shown as object)).toEqual([1, 2]);
  });

  test('[RED-1] what is too short to be told from ordinary text is left alone', () => {
    expect(createRedactor(['', ' ', 'a', 'true'])('a true story')).toBe('a true story');
  });
});

const redact = createRedactor([]);

describe('credentials told by their looks', () => {
  const jwt = `${btoa('{"alg":"HS256"}')}.${btoa('{"sub":"1234567"}').replaceAll('=', '')}.c2lnbmF0dXJlLXNpZ25hdHVyZQ`;
  test.each([
    ['OpenAI', `sk-proj-${'aB3'.repeat(12)}`],
    ['Anthropic', `sk-ant-api03-${'xY9_'.repeat(8)}`],
    ['Stripe', `sk_live_${'4eC39HqL'.repeat(3)}`],
    ['GitHub', `ghp_${'a1B2'.repeat(9)}`],
    ['GitHub, fine-grained', `github_pat_${'11ABC_'.repeat(10)}`],
    ['GitLab', `glpat-${'x1Y2'.repeat(5)}`],
    ['Slack', 'xoxb-123456789012-abcdefABCDEF'],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['Google', `AIza${'Sy3'.repeat(12)}`],
    ['npm', `npm_${'aB3'.repeat(12)}`],
    ['JSON web token', jwt],
    ['PEM', '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----'],
  ])('[RED-2] %s', (_, credential) => {
    expect(redact(`see ${credential} there`)).toBe(`see ${REDACTED} there`);
    expect(redact({ note: [credential] })).toEqual({ note: [REDACTED] });
  });

  test.each([
    ['Authorization: Bearer abc.def-123456', `Authorization: Bearer ${REDACTED}`],
    ['authorization: Basic dXNlcjpwYXNz', `authorization: Basic ${REDACTED}`],
    ['Set-Cookie: sid=abc; HttpOnly', `Set-Cookie: ${REDACTED}`],
    ["{ cookie: 'sid=abc' }", `{ cookie: '${REDACTED}' }`],
    ['postgres://joe:hunter2@db:5432/app', `postgres://joe:${REDACTED}@db:5432/app`],
    ['postgres://joe:p@ss@db/app', `postgres://joe:${REDACTED}@db/app`],
    ['https://0123456789abcdef0123@github.com/a/b', `https://${REDACTED}@github.com/a/b`],
    [
      'https://api.example.com/?page=2&api_key=abc&x=1',
      `https://api.example.com/?page=2&api_key=${REDACTED}&x=1`,
    ],
    ['DB_PASSWORD=hunter2\nDB_HOST=db', `DB_PASSWORD=${REDACTED}\nDB_HOST=db`],
    ['password: hunter2', `password: ${REDACTED}`],
    ['run --token abcd --verbose', `run --token ${REDACTED} --verbose`],
    ['run --api-key=abcd -v', `run --api-key=${REDACTED} -v`],
    ['{"api_key": "a\\"b", "n": 1}', `{"api_key": "${REDACTED}", "n": 1}`],
    ['"{\\"token\\":\\"abc\\",\\"n\\":1}"', `"{\\"token\\":\\"${REDACTED}\\",\\"n\\":1}"`],
  ])('[RED-2] in text: %s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });

  test.each([
    'the token is a string of at most 40 characters',
    'const token = await mcp.auth.login({ user });',
    'function login(user: string, password: string): void {}',
    'next_page_token=abc123 max_tokens: 4096',
    'http://localhost:8080/@scope/pkg and mail me@example.com',
    'a task-force of risk-takers with a sk-ip',
    'primary_key=42 key: value',
  ])('[RED-2] ordinary text stays: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('names', () => {
  test('[RED-3] values under telling names go, everything else keeps its shape', () => {
    const value = {
      user: 'joe',
      password: 'x',
      apiKey: 'y',
      'X-Api-Key': 'z',
      client_secret: 12345,
      PGPASSWORD: 'p',
      credentials: { user: 'joe', pins: [1, 2], active: true, none: null },
      empty: { token: '', password: null },
      usage: { total_tokens: 12, max_tokens: 4096, next_page_token: 'abc', progressToken: 7 },
      primary_key: 'id',
      args: ['--token', 'abc', '--verbose', 'yes'],
    };
    expect(redact(value)).toEqual({
      user: 'joe',
      password: REDACTED,
      apiKey: REDACTED,
      'X-Api-Key': REDACTED,
      client_secret: REDACTED,
      PGPASSWORD: REDACTED,
      credentials: { user: REDACTED, pins: [REDACTED, REDACTED], active: true, none: null },
      empty: { token: '', password: null },
      usage: { total_tokens: 12, max_tokens: 4096, next_page_token: 'abc', progressToken: 7 },
      primary_key: 'id',
      args: ['--token', REDACTED, '--verbose', 'yes'],
    });
  });

  test('[RED-3] the schema of a parameter called password is not a password', () => {
    const schema = {
      type: 'object',
      properties: { password: { type: 'string', description: 'At least 8' } },
    };
    expect(redact(schema)).toEqual(schema);
    const filled = { password: { type: 'string', default: 'hunter2' } };
    expect(JSON.stringify(redact(filled))).not.toContain('hunter2');
  });
});

describe('any value at all', () => {
  test('[RED-4] JSON without secrets comes back equal, and the input is never changed', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const before = JSON.stringify(value);
        redact(value);
        createRedactor([before])(value);
        expect(JSON.stringify(value)).toBe(before);
      }),
      proof,
    );
    const plain = { a: [1, 'two', { b: null, c: true }], __proto__x: {}, text: 'nothing to see' };
    expect(redact(plain)).toEqual(plain);
    expect(redact(plain)).not.toBe(plain);
  });

  test('[RED-4] a hostile __proto__ key stays a key', () => {
    const shown = redact(JSON.parse('{"__proto__": {"polluted": true}}')) as object;
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"polluted":true}}');
  });

  test('[RED-4] what JSON does not know is shown as JSON could', () => {
    const error = Object.assign(new Error('login with password=hunter2 failed'), { code: 'E1' });
    const shown = redact({
      error,
      date: new Date(0),
      url: new URL('https://joe:hunter2@example.com/'),
      map: new Map([['token', 'abc']]),
      set: new Set([1]),
      big: 10n,
      bytes: new Uint8Array(3),
      fn: () => 1,
      missing: undefined,
      broken: {
        get x() {
          throw new Error('no');
        },
      },
    });
    expect(shown).toEqual({
      error: { name: 'Error', message: `login with password=${REDACTED} failed`, code: 'E1' },
      date: '1970-01-01T00:00:00.000Z',
      url: `https://joe:${REDACTED}@example.com/`,
      map: { token: REDACTED },
      set: [1],
      big: '10',
      bytes: '[3 bytes]',
      fn: '[function]',
      missing: undefined,
      broken: '[unreadable]',
    });
  });
});

describe('limits', () => {
  test('[RED-5] a circle, a depth and a flood end in a marker', () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.self = circle;
    expect(redact(circle)).toEqual({ a: 1, self: '[circular]' });
    let deep: unknown = 'bottom';
    for (let level = 0; level < 5000; level++) deep = [deep];
    expect(JSON.stringify(redact(deep))).toContain('[too deep]');
    const few = createRedactor([], { maxNodes: 4 });
    expect(few([1, 2, 3, 4, 5])).toEqual([1, 2, 3, '[cut 2 items]']);
    expect(few({ a: 1, b: 2, c: 3, d: 4, e: 5 })).toEqual({ a: 1, b: 2, c: 3, '[cut]': '2 keys' });
  });

  test('[RED-5] the same object twice is no circle', () => {
    const shared = { x: 1 };
    expect(redact([shared, shared])).toEqual([{ x: 1 }, { x: 1 }]);
  });

  test('[RED-5] a long string is cut with the number of bytes that went', () => {
    const short = createRedactor([], { maxString: 10 });
    expect(short('0123456789')).toBe('0123456789');
    expect(short('0123456789éé😀')).toBe('0123456789…[cut 8 bytes]');
    expect(short('012345678😀')).toBe('012345678…[cut 4 bytes]');
    const total = createRedactor([], { maxText: 10 });
    expect(total(['0123456', 'abcdef', 'gh'])).toEqual(['0123456', 'abc…[cut 3 bytes]', '…[cut 2 bytes]']);
  });

  test('[RED-5] a cut leaves no half of a secret behind', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.nat(30), (at, max) => {
        const cut = createRedactor(['hush-hush-hush'], { maxString: max });
        const shown = cut(`${'.'.repeat(at)}hush-hush-hush${'.'.repeat(40)}`);
        expect(shown).not.toContain('hush');
      }),
      proof,
    );
  });

  test('[RED-6] redacting what was redacted changes nothing, whatever was hidden or cut', () => {
    const secret = 'hush-hush-hush';
    const text = fc.constantFrom(
      secret,
      `password=${secret}`,
      'token: "abc-123',
      'x'.repeat(30),
      '😀'.repeat(9),
    );
    const limits = fc.record({
      maxString: fc.nat(40),
      maxText: fc.nat(80),
      maxNodes: fc.nat(12),
      maxDepth: fc.nat(4),
    });
    fc.assert(
      fc.property(around(text), limits, (value, limits) => {
        const redact = createRedactor([secret], limits);
        const once = redact(value);
        expect(redact(once)).toEqual(once);
      }),
      { ...proof, numRuns: proofRuns(20_000) },
    );
  });

  test('[RED-5] megabytes of look-alikes are handled', () => {
    for (const piece of [
      'sk-',
      'eyJaaaaaaaa.',
      '://a:b',
      'password="',
      '-----BEGIN PRIVATE KEY-----',
      'a-',
      '\\"',
    ]) {
      const text = piece.repeat(Math.ceil(2_000_000 / piece.length));
      expect(redact(text).length).toBeLessThan(200_000);
    }
  });
});
