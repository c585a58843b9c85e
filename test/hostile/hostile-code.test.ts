import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { HOSTILE_CASES } from './cases.ts';
import { type HostileCase, reached } from './hostile-case.ts';
import { HOSTILE_OPTIONS, hostileHost, hostileProgram, PATIENT_OPTIONS } from './hostile-host.ts';
import { attackPlainVm } from './plain-vm-sandbox.ts';

/** Attacks under way at once. */
const AT_ONCE = 2;

/** Runs each of `items`, some at once, and lets tests await theirs. */
function inLine<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Map<T, Promise<R>> {
  const lines: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  return new Map(
    items.map((item, i) => {
      const result = lines[i % AT_ONCE]!.then(() => work(item));
      lines[i % AT_ONCE] = result.catch(() => {});
      return [item, result];
    }),
  );
}

describe('[BOX-14] hostile code reaches nothing, the host survives, and the next run works', () => {
  const sandbox = createSandbox();
  afterAll(() => sandbox.close());
  const assault = async (attack: HostileCase) => {
    const { host, after } = hostileHost(attack);
    const options = attack.canary.kind === 'truth' ? PATIENT_OPTIONS : HOSTILE_OPTIONS;
    const outcome = await sandbox.run(hostileProgram(attack), host, options);
    const next = await sandbox.run(hostileProgram({ code: 'return 1 + 1;' }), host, PATIENT_OPTIONS);
    return { aftermath: after(outcome), next };
  };
  let attacks: Map<HostileCase, ReturnType<typeof assault>>;
  beforeAll(() => {
    attacks = inLine(HOSTILE_CASES, assault);
  });

  test('there are at least sixty attacks, each with its own name', () => {
    expect(HOSTILE_CASES.length).toBeGreaterThanOrEqual(60);
    expect(new Set(HOSTILE_CASES.map(({ name, canary }) => `${canary.kind} ${name}`)).size).toBe(
      HOSTILE_CASES.length,
    );
  });

  test.each(HOSTILE_CASES.map((attack) => [attack.name, attack] as const))('%s', async (_, attack) => {
    const { aftermath, next } = await attacks.get(attack)!;
    expect(reached(attack, aftermath)).toBeNull();
    expect(next).toMatchObject({ ok: true, value: 2 });
  });
});

describe('[BOX-14] the same code in a plain vm context reaches its target', () => {
  const biting = HOSTILE_CASES.filter(({ bitesOnVm }) => bitesOnVm);
  let attacks: Map<HostileCase, ReturnType<typeof attackPlainVm>>;
  beforeAll(() => {
    attacks = inLine(biting, attackPlainVm);
  });

  test.each(biting.map((attack) => [attack.name, attack] as const))('%s', async (_, attack) => {
    const aftermath = await attacks.get(attack)!;
    expect(reached(attack, aftermath)).not.toBeNull();
    // Only a bomb may reach its aim by taking the sandbox down.
    if (attack.canary.kind !== 'ended') expect(aftermath.outcome).not.toBeNull();
  });
});
