import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { createRedactor, knownPart, REDACTED } from './redact.ts';

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

  test('[RED-1] base64 of any text around a secret reveals nothing of it', () => {
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

  test('[RED-1] overlapping secrets leave no fragment of either', () => {
    expect(createRedactor(['abcdefgh', 'efghijkl'])('x abcdefghijkl y')).toBe(`x ${REDACTED} y`);
    expect(createRedactor(['inner-1', 'outer-inner-1-outer'])('outer-inner-1-outer')).toBe(REDACTED);
  });

  test('[RED-1] a number that is a secret is hidden as a number too', () => {
    expect(createRedactor(['48151623'])({ pin: 48151623, other: 4815 })).toEqual({
      pin: REDACTED,
      other: 4815,
    });
  });

  test('[RED-1] hidden keys stay distinct', () => {
    const shown = createRedactor(['secret-a', 'secret-b'])({ 'secret-a': 1, 'secret-b': 2 });
    expect(Object.values(shown as object)).toEqual([1, 2]);
  });

  test('[RED-1] a value too short to distinguish from ordinary text is left alone', () => {
    expect(createRedactor(['', ' ', 'a', 'true'])('a true story')).toBe('a true story');
  });
});

const redact = createRedactor([]);

describe('credentials recognised by their shape', () => {
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

  const hex = (length: number) => '0123456789abcdef'.repeat(16).slice(0, length);
  const mixed = (length: number) => 'aB3dE6gH9jK2'.repeat(20).slice(0, length);
  test.each([
    ['GitLab, trigger', `glptt-${hex(40)}`],
    ['Google, refresh', `1//0${mixed(60)}`],
    ['Azure', `abc8Q~${mixed(34)}`],
    ['Hugging Face', `hf_${mixed(34)}`],
    ['PyPI', `pypi-AgEIcHlwaS5vcmc${mixed(60)}`],
    ['SendGrid', `SG.${mixed(22)}.${mixed(43)}`],
    ['Mailgun', `key-${hex(32)}`],
    ['Mailchimp', `${hex(32)}-us12`],
    ['Twilio', `SK${hex(32)}`],
    ['Telegram', `123456789:AA${mixed(33)}`],
    ['Discord', `MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.${mixed(38)}`],
    ['Docker', `dckr_pat_${mixed(27)}`],
    ['Heroku', `HRKU-${mixed(40)}`],
    ['Vault', `hvs.${mixed(40)}`],
    ['Databricks', `dapi${hex(32)}`],
    ['DigitalOcean', `dop_v1_${hex(64)}`],
    ['Doppler', `dp.pt.${mixed(43)}`],
    ['Figma', `figd_${mixed(40)}`],
    ['Grafana', `glsa_${mixed(32)}_${hex(8)}`],
    ['Linear', `lin_api_${mixed(40)}`],
    ['New Relic', `NRAK-${'A1B2C3'.repeat(5).slice(0, 27)}`],
    ['Notion', `ntn_${mixed(43)}`],
    ['Airtable', `pat${mixed(14)}.${hex(64)}`],
    ['Atlassian', `ATATT3${mixed(180)}`],
    ['HubSpot', 'pat-na1-01234567-89ab-cdef-0123-456789abcdef'],
    ['Postman', `PMAK-${hex(24)}-${hex(34)}`],
    ['Sentry', `sntrys_${mixed(60)}`],
    ['Shopify', `shpat_${hex(32)}`],
    ['Square', `sq0csp-${mixed(43)}`],
    ['Supabase', `sbp_${hex(40)}`],
    ['Tailscale', `tskey-auth-${mixed(30)}`],
    ['RubyGems', `rubygems_${hex(48)}`],
    ['Pulumi', `pul-${hex(40)}`],
    ['Pinecone', `pcsk_${mixed(60)}`],
    ['a hash of a password', `$2b$12$${mixed(53)}`],
  ])('[RED-2] %s', (_, credential) => {
    expect(redact(`see ${credential} there`)).toBe(`see ${REDACTED} there`);
    expect(redact({ note: [credential] })).toEqual({ note: [REDACTED] });
  });

  test.each([
    [
      'https://hooks.slack.com/services/T0000/B0000/abcdefgh12345678',
      `https://hooks.slack.com/services/${REDACTED}`,
    ],
    [
      'https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwx',
      `https://discord.com/api/webhooks/${REDACTED}`,
    ],
    [
      'https://x.blob.core.windows.net/a?sv=1&sig=abc%2Bdef123',
      `https://x.blob.core.windows.net/a?sv=1&sig=${REDACTED}`,
    ],
    ['https://s3/a?X-Amz-Signature=0123abcd&x=1', `https://s3/a?X-Amz-Signature=${REDACTED}&x=1`],
    ['AccountName=a;AccountKey=abc123==;', `AccountName=a;AccountKey=${REDACTED};`],
    ['curl -u joe:hunter2 https://a', `curl -u joe:${REDACTED} https://a`],
    ["curl -s --user 'joe:hunt er2' https://a", `curl -s --user 'joe:${REDACTED}' https://a`],
    ['mysql -u root -phunter2 app', `mysql -u root -p${REDACTED} app`],
    ['mysqldump -p"hunt er2" app', `mysqldump -p"${REDACTED}" app`],
    ['sshpass -p hunter2 ssh a@b', `sshpass -p ${REDACTED} ssh a@b`],
    ['docker login -u joe -p hunter2', `docker login -u joe -p ${REDACTED}`],
    ['redis-cli -h db -a hunter2 ping', `redis-cli -h db -a ${REDACTED} ping`],
    ['machine a.com login joe password hunter2', `machine a.com login joe password ${REDACTED}`],
    ['<config><password>hunter2</password></config>', `<config><password>${REDACTED}</password></config>`],
    [":password => 'hunter2', :n => 1", `:password => '${REDACTED}', :n => 1`],
    ['{"auths":{"a":{"auth":"am9lOmh1bnRlcjI="}}}', `{"auths":{"a":{"auth":"${REDACTED}"}}}`],
    ['Private-Lines: 2\nAAAAgQCabc\nDEF=\nPrivate-MAC: 00', `Private-Lines: 2\n${REDACTED}-MAC: 00`],
    ['Authorization: SSWS 00abcdefghijklmnop123', `Authorization: SSWS ${REDACTED}`],
    ['{"name":"DB_PASS","value":"hunter2"}', `{"name":"DB_PASS","value":"${REDACTED}"}`],
    [`abc.atlasv1.${mixed(67)}`, `abc.atlasv1.${REDACTED}`],
    ['Passwort: hunter2', `Passwort: ${REDACTED}`],
    ['密码：hunter2', `密码：${REDACTED}`],
  ])('[RED-2] in text: %s', (text, shown) => {
    expect(redact(text)).toBe(shown);
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
    'docker run -p 8080:80 -u 1000:1000 nginx',
    'mkdir -p a/b && zip -r a.zip b',
    'git log --author joe42 --pass-through x1',
    '<passage>ordinary1</passage>',
    'the pass rate is 12; author: Joe; signature: f(x)',
    'const auth = await login(); items.map((token) => token.id2);',
  ])('[RED-2] ordinary text stays: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('names', () => {
  test('[RED-3] values under revealing names are hidden, everything else keeps its shape', () => {
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

  test.each(
    (
      'pass dbPass smtp_pass pw psk auth bearer passwordConfirmation secret_key_base sid session_id otp pin cvv ' +
      'backup_codes seed_phrase recoveryPhrase securityCode cardNumber access_tokens webhook_url connectionString ' +
      'contraseña senha mot_de_passe Passwort kennwort wachtwoord lösenord hasło heslo jelszó şifre parola salasana ' +
      'пароль 密码 パスワード 비밀번호 mật_khẩu كلمة_المرور'
    ).split(' '),
  )('[RED-3] %s', (name) => {
    expect(redact({ [name]: 'abc-4711', n: 1 })).toEqual({ [name]: REDACTED, n: 1 });
    expect(redact([{ name, value: 'abc-4711' }])).toEqual([{ name, value: REDACTED }]);
    expect(redact(`{"${name}": "abc-4711"}`)).toBe(`{"${name}": "${REDACTED}"}`);
  });

  test.each(
    (
      'compass bypass path spin pinned author authors design sidebar residual monkey turkey keyboard password_file ' +
      'token_count tokens barcode postcode code country_code zip_code phrase seed words order passenger cookie_policy url ' +
      'string number id'
    ).split(' '),
  )('[RED-3] %s reveals nothing', (name) => {
    expect(redact({ [name]: 'abc-4711' })).toEqual({ [name]: 'abc-4711' });
  });

  test('[RED-3] settings of a login keep their non-secret parts', () => {
    const value = { auth: { kind: 'bearer', user: 'joe-4711', token: 'abc' }, headers: ['Cookie', 'a=b'] };
    expect(redact(value)).toEqual({
      auth: { kind: 'bearer', user: 'joe-4711', token: REDACTED },
      headers: ['Cookie', REDACTED],
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

  test('[RED-4] values that JSON lacks are shown in JSON form', () => {
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
  test('[RED-5] cycles, too much depth and too many values end in a marker', () => {
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

  test('[RED-5] the same object twice is not a cycle', () => {
    const shared = { x: 1 };
    expect(redact([shared, shared])).toEqual([{ x: 1 }, { x: 1 }]);
  });

  test('[RED-5] a long string is cut, with the number of bytes removed', () => {
    const short = createRedactor([], { maxString: 10 });
    expect(short('0123456789')).toBe('0123456789');
    expect(short('0123456789éé😀')).toBe('0123456789…[cut 8 bytes]');
    expect(short('012345678😀')).toBe('012345678…[cut 4 bytes]');
    const total = createRedactor([], { maxText: 10 });
    expect(total(['0123456', 'abcdef', 'gh'])).toEqual(['0123456', 'abc…[cut 3 bytes]', '…[cut 2 bytes]']);
  });

  test('[RED-5] a cut leaves no part of a secret behind', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.nat(30), (at, max) => {
        const cut = createRedactor(['hush-hush-hush'], { maxString: max });
        const shown = cut(`${'.'.repeat(at)}hush-hush-hush${'.'.repeat(40)}`);
        expect(shown).not.toContain('hush');
      }),
      proof,
    );
  });

  test('[RED-6] redacting a redacted value changes nothing, whatever was hidden or cut', () => {
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
      'Private-Lines: 1\n',
      'mysql -p',
      'curl curl -u ',
      '<password ',
      '<password>a',
      '"name":"password",',
      'machine a password ',
      'SG.aaaaaaaaaaaaaaaaaaaa',
      '00Daaaaaaaaaaaaaaa',
      'Mabcdefghijklmnopqrstuvwxyz.',
      '密码',
      'a-',
      '\\"',
    ]) {
      const text = piece.repeat(Math.ceil(2_000_000 / piece.length));
      expect(redact(text).length).toBeLessThan(200_000);
    }
  });
});

test('[PLAN-29] hidden or cut parts of a stored value are left out, and everything else stays in place', () => {
  const stored = createRedactor([])({
    user: 'ada',
    password: 'hunter2-hunter2',
    list: ['a', { token: 'hunter3-hunter3' }],
  });
  expect(knownPart(stored)).toEqual({ user: 'ada', list: ['a', {}] });
  expect(knownPart(['[redacted]', 'b'])).toEqual([null, 'b']);
  expect(knownPart('Bearer [redacted]')).toBeUndefined();
  const whole = { a: [1, null, { b: 'c' }] };
  expect(knownPart(whole)).toBe(whole);
});
