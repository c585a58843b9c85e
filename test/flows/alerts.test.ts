import { expect, test } from 'vitest';
import { FULL_SCOPE } from '../../src/core/vocabulary/principal.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { tool } from '../support/test-gateway.ts';
import { withinOneDay } from '../support/within-one-day.ts';

interface Told {
  readonly alerts: readonly { readonly id: string; readonly words: string; readonly since: string }[];
}

/** A tool that fails when told so, one whose answers change, and one that takes its time. */
async function watched() {
  let n = 0;
  let isChanged = false;
  const lab = {
    name: 'lab',
    tools: [
      tool('try', ({ fail }) => {
        if (fail) throw new Error('It broke');
        return 'fine';
      }),
      tool('measure', () => (isChanged ? { celsius: n++, sky: 'clear' } : { temp: n++, sky: 'clear' })),
      tool('brew', async () => await new Promise((resolve) => setTimeout(resolve, 25))),
    ],
  };
  const { alerts } = settingsFor([]);
  const thresholds = { ...alerts, latencyMs: 20, waitingMs: 0 };
  const made = await peopleGateway({ alerts: thresholds }, [lab]);
  const operator = await made.keyFor('operator');
  const execute = (key: string, code: string) => made.ask(key, 'POST', '/api/execute', { code });
  const told = async (key = operator) => {
    const { alerts: all } = (await made.ask(key, 'GET', '/api/alerts')).body as Told;
    return all.map(({ words }) => words);
  };
  const change = () => {
    isChanged = true;
  };
  return { ...made, operator, execute, told, change };
}

test('[ALERT-1] failing and slow tools, changed answers and waiting calls raise alerts in words, which end when the problem does', async () => {
  const { ask, operator, execute, told, change } = await watched();
  const failures = 'for (let i = 0; i < 9; i++) { try { await mcp.lab.try({ fail: true }) } catch {} }';
  await execute(operator, failures);
  await execute(operator, 'for (let i = 0; i < 20; i++) await mcp.lab.measure({ i });');
  // Nine calls say little of a tool.
  const failing = expect.stringContaining('lab:try failed');
  expect(await told()).not.toContainEqual(failing);
  await execute(
    operator,
    'for (let i = 0; i < 3; i++) { try { await mcp.lab.try({ fail: i < 1 }) } catch {} }',
  );
  await execute(operator, 'await Promise.all(Array.from({ length: 10 }, (_, i) => mcp.lab.brew({ i })))');
  change();
  await execute(operator, 'for (let i = 0; i < 6; i++) await mcp.lab.measure({ i });');
  const { run_id } = (await ask(operator, 'POST', '/api/execute', { tool: 'desk:write', arguments: {} }))
    .body;
  const waiting = 'One call has been waiting for a person for a minute or less.';
  // On a busy machine, other tools may be slow, too.
  const expected = expect.arrayContaining([
    'lab:try failed in 10 of 12 calls in the last 60 minutes.',
    expect.stringMatching(/^One in 20 calls of lab:brew took \d+ ms or more in the last 60 minutes\.$/),
    expect.stringContaining('The answers of lab:measure changed: '),
    waiting,
  ]);
  await expect.poll(() => told()).toEqual(expected);
  await ask(operator, 'POST', `/api/runs/${run_id}/reject`, {});
  await execute(operator, 'for (let i = 0; i < 9; i++) await mcp.lab.try({ i })');
  await expect.poll(() => told()).not.toContainEqual(failing);
  expect(await told()).not.toContain(waiting);
});

test('[ALERT-2] a key that has used most of its budget raises an alert for itself and for those who manage keys', async () => {
  await withinOneDay();
  const { keyFor, execute, operator, told, log } = await watched();
  const limits = [{ unit: 'calls', per: 'day', most: 10 } as const];
  const ci = await keyFor('agent', 'ci', 'ci', { ...FULL_SCOPE, limits });
  const viewer = await keyFor('viewer');
  await execute(ci, 'for (let i = 0; i < 9; i++) await mcp.desk.echo({ i })');
  const words = 'The key ci has used 90 % of its 10 calls per day.';
  await expect.poll(() => told(operator)).toContain(words);
  expect(await told(viewer)).not.toContain(words);
  expect(log()).not.toContain(ci);
});
