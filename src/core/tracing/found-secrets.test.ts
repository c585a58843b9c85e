import { describe, expect, test } from 'vitest';
import { createFoundSecrets } from './found-secrets.ts';
import { createRedactor, REDACTED } from './redact.ts';

const redact = createRedactor([]);

describe('secrets found in one run', () => {
  test('[RED-7] a secret recognised once is hidden wherever it occurs, also before that place', () => {
    const found = createFoundSecrets();
    expect(redact({ note: 'use zebra-4711-lemon', login: { password: 'zebra-4711-lemon' } }, found)).toEqual({
      note: `use ${REDACTED}`,
      login: { password: REDACTED },
    });
    const encoded = btoa('joe:zebra-4711-lemon');
    expect(redact(`zebra-4711-lemon ${encoded}`, found)).toBe(`${REDACTED} am9lOn${REDACTED}4=`);
    expect(redact({ 'zebra-4711-lemon': 1 }, found)).toEqual({ [REDACTED]: 1 });
    expect(redact('zebra-4711-lemon')).toBe('zebra-4711-lemon');
  });

  test('[RED-7] so is a secret found inside a text', () => {
    const found = createFoundSecrets();
    redact('postgres://joe:hunter-2@db/app and PIN: 48151623 and otp=9876', found);
    expect(redact(['it was hunter-2', 48151623, '9876', '19876'], found)).toEqual([
      `it was ${REDACTED}`,
      REDACTED,
      REDACTED,
      '19876',
    ]);
  });

  test('[RED-12] common words and parts of words stay', () => {
    const found = createFoundSecrets();
    redact({ password: 'required', token: 'banana', secret: '[redacted]' }, found);
    expect(redact('required: bananas, a banana, [redacted]', found)).toBe(
      `required: bananas, a ${REDACTED}, [redacted]`,
    );
  });

  test('[RED-7] thousands of them, chosen to be slow, are handled', () => {
    const found = createFoundSecrets();
    const many = Array.from({ length: 5000 }, (_, i) => ({ password: `${'a'.repeat(200)}${i}` }));
    redact(many, found);
    expect(redact('a'.repeat(1_000_000), found)).toContain('aaa');
    expect(redact(`x ${'a'.repeat(300)}7 y`, found)).toContain(REDACTED);
  });
});
