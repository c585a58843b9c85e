import { expect, test } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const NOBODY = { sessionId: null };

test('[AUDIT-3] an accepted definition is in the audit log, with who approved it and its hash', async () => {
  const server = (description: string) => ({ name: 'mail', tools: [tool('send', () => 1, { description })] });
  const store = createMemoryStore();
  await testGateway({ servers: [server('Sends')], store });
  const { gateway } = await testGateway({ servers: [server('Sends more')], store });
  await gateway.restart('mail');
  await gateway.settled();
  const { runId } = await gateway.executeTool({ tool: 'mail:send', arguments: {} }, NOBODY);
  const [proposed] = await store.tools.proposed();
  await gateway.settleApproval(runId, 'approved', 'ana', undefined, { acceptDefinition: true });
  expect((await gateway.continueRun(runId, 'resume', NOBODY)).status).toBe('success');
  expect(await gateway.people.audit({ limit: 9, action: 'definition_accepted' })).toMatchObject([
    { actor: 'ana', subject: 'mail:send', hash: proposed?.definitionHash, details: { run_id: runId } },
  ]);
});

test('[AUDIT-3] a change of permissions is in the audit log, whether PML ran or not', async () => {
  const store = createMemoryStore();
  const file = '/home/ada/pml.json';
  const changes = () => store.audit.list({ limit: 9, action: 'policy_changed' });
  const { permissions } = settingsFor([]);
  const first = await testGateway({ store, settings: { file } });
  const rules = {
    allow: [],
    ask: [],
    deny: [],
    auto: [],
    default: 'allow',
    profile: 'balanced',
    clients_decide: false,
  };
  expect(await changes()).toMatchObject([{ subject: file, details: { rules, before: null } }]);
  await first.gateway.reload(settingsFor([], { file, templates: '/elsewhere' }));
  await first.gateway.settled();
  expect(await changes()).toHaveLength(1);
  const strict = { ...permissions, deny: ['*:delete_*'] };
  await first.gateway.reload(settingsFor([], { file, permissions: strict }));
  await first.gateway.settled();
  const [second, before] = await changes();
  expect(second?.details).toEqual({ rules: { ...rules, deny: ['*:delete_*'] }, before: before?.hash });
  await first.gateway.close();

  const stricter = { ...strict, default: 'ask' as const };
  await testGateway({ store, settings: { file, permissions: stricter } });
  await testGateway({ store, settings: { file, permissions: stricter } });
  expect(await changes()).toHaveLength(3);
});

test('[AUDIT-3] an edit is in the audit log beside the rejection of what it replaced', async () => {
  const { ask, keyFor, store } = await peopleGateway();
  const [agent, operator] = [await keyFor('agent'), await keyFor('operator', 'olga')];
  const { run_id } = (await ask(agent, 'POST', '/api/execute', { tool: 'desk:write', arguments: { a: 1 } }))
    .body;
  await ask(operator, 'POST', `/api/runs/${run_id}/edit`, { arguments: { a: 2 } });
  const log = await store.audit.list({ limit: 9, subject: run_id });
  expect(log).toMatchObject([
    { actor: 'olga', action: 'edited' },
    { actor: 'olga, who edited the arguments', action: 'rejected' },
  ]);
  expect(log[0]?.hash).not.toBe(log[1]?.hash);
});

test('[AUDIT-4] the audit log is read in pages and by action, and an invalid query is an error', async () => {
  const { ask, keyFor } = await peopleGateway();
  const operator = await keyFor('operator');
  for (const name of ['a', 'b', 'c']) await keyFor('agent', name);
  const read = async (query: string) => (await ask(operator, 'GET', `/api/audit?${query}`)).body;
  const first = await read('limit=2&action=key_created');
  expect(first.entries.map((entry: { details: { name: string } }) => entry.details.name)).toEqual(['c', 'b']);
  const rest = await read(`limit=9&action=key_created&before=${first.next}`);
  expect(rest.entries.map((entry: { details: { name: string } }) => entry.details.name)).toEqual([
    'a',
    'operator',
  ]);
  expect(rest.next).toBeNull();
  expect((await read('action=none')).error.code).toBe('invalid_argument');
});
