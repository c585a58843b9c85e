import { describe, expect, test } from 'vitest';
import type { Principal } from '../../src/core/vocabulary/principal.ts';
import type { Caller, Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const NOBODY: Caller = { sessionId: null };

const shell = { name: 'desk', tools: [tool('write', () => 'done')] };
const asking = (over: Partial<ReturnType<typeof settingsFor>['permissions']> = {}) => ({
  permissions: { ...settingsFor([]).permissions, ask: ['desk:*'], approvalWaitMs: 0, ...over },
});

describe('when nobody can be asked', () => {
  const patient = { approvalWaitMs: 600_000 };
  const call = { tool: 'desk:write', arguments: { path: 'a' } };

  test('[APPROVE-12] a call ends at once with what to do; while somebody watches, it waits', async () => {
    const made = await testGateway({ servers: [shell], settings: asking(patient), attended: false });
    const { gateway, store } = made;
    for (const run of [
      await gateway.executeTool(call, NOBODY),
      await gateway.executeCode({ code: 'return await mcp.desk.write({ path: "b" })' }, NOBODY),
      await gateway.executeWorkflow(
        { tasks: [{ id: 'a', dependsOn: [], ...call, arguments: { path: 'c' } }], inputs: [] },
        null,
        NOBODY,
      ),
    ])
      expect(run.status).toBe('approval_required');
    const leave = gateway.events.attend();
    const waiting = gateway.executeTool({ ...call, arguments: { path: 'd' } }, NOBODY);
    await expect.poll(() => store.approvals.list({ state: 'pending' })).toHaveLength(4);
    const [, , , asked] = await store.approvals.list({ state: 'pending' });
    await gateway.settleApproval(asked!.runId, 'approved', 'ana');
    expect((await waiting).status).toBe('success');
    leave();
  });

  test('[APPROVE-12] closing a dialogue ends the wait', async () => {
    const settings = asking({ ...patient, clientsDecide: true });
    const { gateway } = await testGateway({ servers: [shell], settings, attended: false });
    for (const reply of [
      async () => ({ action: 'cancel' }),
      async () => {
        throw new Error('no dialogue');
      },
    ]) {
      const client = { id: 'c1', capabilities: { elicitation: {} }, ask: reply };
      const { status } = await gateway.executeTool(call, { ...NOBODY, client });
      expect(status).toBe('approval_required');
    }
  });

  test("[APPROVE-12] a page of a person who may decide counts, another person's page does not", async () => {
    const { gateway, listener, keyFor } = await peopleGateway();
    gateway.events.attend()();
    const open = async (key: string) => {
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      const page = await fetch(`${listener.url}/api/events`, { headers, signal: leaving.signal });
      await page.body!.getReader().read();
      return leaving;
    };
    const before = gateway.events.isAttended;
    const viewer = await open(await keyFor('viewer'));
    expect(gateway.events.isAttended).toBe(before);
    const operator = await open(await keyFor('operator'));
    expect(gateway.events.isAttended).toBe(true);
    operator.abort();
    viewer.abort();
    await expect.poll(() => gateway.events.isAttended).toBe(before);
  });

  test('[APPROVE-13] a repeated call asks no new question and gets the same run', async () => {
    const { gateway, store } = await testGateway({
      servers: [shell],
      settings: asking(patient),
      attended: false,
    });
    const first = await gateway.executeTool(call, NOBODY);
    for (let times = 0; times < 3; times++)
      expect(await gateway.executeTool(call, NOBODY)).toMatchObject({
        status: 'approval_required',
        runId: first.runId,
      });
    const code = { code: 'return await mcp.desk.write({ path: "a" })' };
    const program = await gateway.executeCode(code, NOBODY);
    expect((await gateway.executeCode(code, NOBODY)).runId).toBe(program.runId);
    // The same call within another program is another run: it continues in another way.
    const other = await gateway.executeCode({ code: `${code.code} // once more` }, NOBODY);
    expect(new Set([first.runId, program.runId, other.runId]).size).toBe(3);
    expect(await store.approvals.list({})).toHaveLength(3);
    expect(await store.runs.list(9)).toHaveLength(3);
    await gateway.settleApproval(first.runId, 'approved', 'ana');
    expect((await gateway.executeTool(call, NOBODY)).status).toBe('success');
  });

  test('[APPROVE-13] a question that was open before a restart stays the same question', async () => {
    const store = createMemoryStore();
    const options = { servers: [shell], store, settings: asking(), attended: false };
    const before = await testGateway(options);
    const first = await before.gateway.executeTool(call, NOBODY);
    await before.gateway.close();
    const { gateway } = await testGateway(options);
    expect((await gateway.executeTool(call, NOBODY)).runId).toBe(first.runId);
    const who: Principal = { name: 'bob', user: 'bob', role: 'agent', keyId: 'bob' };
    expect((await gateway.executeTool(call, { ...NOBODY, who })).runId).not.toBe(first.runId);
  });

  test('[APPROVE-13] of calls that wait for one question, each approval lets one run', async () => {
    let calls = 0;
    const counting = { name: 'desk', tools: [tool('write', () => ++calls)] };
    const { gateway, store } = await testGateway({ servers: [counting], settings: asking(patient) });
    const both = [gateway.executeTool(call, NOBODY), gateway.executeTool(call, NOBODY)];
    for (let approvals = 1; approvals <= 2; approvals++) {
      await expect
        .poll(async () => (await store.approvals.list({})).map(({ state }) => state))
        .toEqual([...Array(approvals - 1).fill('used'), 'pending']);
      // It is used before its call is made.
      await expect.poll(() => calls).toBe(approvals - 1);
      const [open] = await store.approvals.list({ state: 'pending' });
      await gateway.settleApproval(open!.runId, 'approved', 'ana');
    }
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual(['success', 'success']);
    expect(calls).toBe(2);
  });

  test('[APPROVE-14] the client gets progress and the log names the run', async () => {
    const lines: string[] = [];
    const logger = { log: (level: string, text: string) => void lines.push(`${level} ${text}`) };
    const { gateway, store } = await testGateway({ servers: [shell], settings: asking(patient), logger });
    const told: { progress: number; message?: string }[] = [];
    const caller = { ...NOBODY, onProgress: (one: (typeof told)[number]) => void told.push(one) };
    const waiting = gateway.executeTool(call, caller);
    await expect.poll(() => told.length).toBeGreaterThan(1);
    const [open] = await store.approvals.list({ state: 'pending' });
    await gateway.settleApproval(open!.runId, 'approved', 'ana');
    expect((await waiting).status).toBe('success');
    const text = `desk:write is waiting for a person: pml runs approve ${open!.runId}`;
    expect(lines).toContain(`warn ${text}`);
    expect(told.every(({ message }) => message === text)).toBe(true);
    expect(told[1]!.progress).toBeGreaterThan(told[0]!.progress);
  });
});

describe('standing approvals', () => {
  const as = (user: string, sessionId: string | null = null): Caller => {
    const who: Principal = { name: user, user, role: 'agent', keyId: user };
    return { sessionId, who };
  };
  const call = (path: string) => ({ tool: 'desk:write', arguments: { path } });
  const opened = async (store = createMemoryStore(), over: JsonObject = {}) =>
    await testGateway({
      servers: [{ name: 'desk', tools: [tool('write', () => 'done', over)] }],
      store,
      settings: asking(),
      attended: false,
    });
  const statuses = async (gateway: Gateway, calls: readonly (readonly [string, Caller])[]) => {
    const made = [];
    for (const [path, caller] of calls) made.push((await gateway.executeTool(call(path), caller)).status);
    return made;
  };

  test.each([
    ['tool', ['success', 'success', 'success']],
    ['arguments', ['success', 'approval_required', 'success']],
    ['session', ['success', 'success', 'approval_required']],
  ] as const)(
    '[APPROVE-15] %s: later calls run until it is revoked, never another user’s',
    async (always, expected) => {
      const { gateway, store } = await opened();
      const { runId } = await gateway.executeTool(call('a'), as('ana', 's1'));
      await gateway.settleApproval(runId, 'approved', 'olga', undefined, { always });
      await gateway.executeTool(call('a'), as('ana', 's1'));
      const later = [
        ['a', as('ana', 's1')],
        ['b', as('ana', 's1')],
        ['a', as('ana', 's2')],
      ] as const;
      expect(await statuses(gateway, later)).toEqual(expected);
      expect(await statuses(gateway, [['a', as('bob', 's1')]])).toEqual(['approval_required']);
      const [standing] = await gateway.people.standing();
      expect(standing).toMatchObject({ node: 'desk:write', scope: always, user: 'ana', by: 'olga' });
      await gateway.people.revokeStanding(standing!.id, 'otto');
      expect(await gateway.people.standing()).toEqual([]);
      expect(await statuses(gateway, [['a', as('ana', 's1')]])).toEqual(['approval_required']);
      const trail = (await store.audit.list({ limit: 9, subject: 'desk:write' })).map(
        ({ action, actor }) => `${action} ${actor}`,
      );
      expect(trail).toEqual(['always_revoked otto', 'always_allowed olga']);
      await expect(gateway.people.revokeStanding(standing!.id, 'otto')).rejects.toMatchObject({
        code: 'not_found',
      });
    },
  );

  test('[APPROVE-15] it survives a restart, and a changed tool asks again', async () => {
    const store = createMemoryStore();
    const first = await opened(store);
    const { runId } = await first.gateway.executeTool(call('a'), as('ana'));
    await first.gateway.settleApproval(runId, 'approved', 'olga', undefined, { always: 'tool' });
    await first.gateway.executeTool(call('a'), as('ana'));
    await first.gateway.close();
    const second = await opened(store);
    expect(await statuses(second.gateway, [['z', as('ana')]])).toEqual(['success']);
    await second.gateway.close();
    const changed = await opened(store, { description: 'Deletes everything' });
    await changed.gateway.restart('desk');
    await changed.gateway.settled();
    expect(await statuses(changed.gateway, [['z', as('ana')]])).toEqual(['approval_required']);
  });

  test('[APPROVE-15] a call without a session cannot be approved for one, and a denied tool stays denied', async () => {
    const { gateway } = await opened();
    const { runId } = await gateway.executeTool(call('a'), as('ana'));
    await expect(
      gateway.settleApproval(runId, 'approved', 'olga', undefined, { always: 'session' }),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
    await gateway.settleApproval(runId, 'approved', 'olga', undefined, { always: 'tool' });
    const settings = gateway.settings();
    await gateway.reload({ ...settings, permissions: { ...settings.permissions, deny: ['desk:*'] } });
    expect(await statuses(gateway, [['a', as('ana')]])).toEqual(['error']);
  });

  test('[APPROVE-16] in the dialogue of a client that may decide, which offers nothing else', async () => {
    const settings = asking({ clientsDecide: true, approvalWaitMs: 20_000 });
    const { gateway } = await testGateway({ servers: [shell], settings });
    const offered: unknown[] = [];
    const answering = (decision: string): Caller => ({
      ...as('ana', 's1'),
      client: {
        id: 'c1',
        capabilities: { elicitation: {} },
        ask: async (_method, { requestedSchema }) => {
          const { properties } = requestedSchema as { properties: { decision: { enum: string[] } } };
          offered.push(properties.decision.enum);
          return { action: 'accept', content: { decision } };
        },
      },
    });
    expect(await statuses(gateway, [['a', answering('always')]])).toEqual(['error']);
    expect(await statuses(gateway, [['a', answering('always_session')]])).toEqual(['success']);
    expect(await statuses(gateway, [['b', answering('reject')]])).toEqual(['success']);
    expect(offered).toHaveLength(2);
    expect(offered[0]).toEqual(['approve', 'reject', 'always_arguments', 'always_tool', 'always_session']);
    expect(await gateway.people.standing()).toMatchObject([{ scope: 'session', by: 'client c1' }]);
  });

  test('[APPROVE-16] over HTTP operators list and revoke them, agents cannot', async () => {
    const { ask, keyFor } = await peopleGateway();
    const [agent, operator] = [await keyFor('agent'), await keyFor('operator')];
    const written = { tool: 'desk:write', arguments: { path: 'a' } };
    const { run_id, how_to_settle: how } = (await ask(agent, 'POST', '/api/execute', written)).body;
    expect(how.always).toContain('"always"');
    const approved = await ask(operator, 'POST', `/api/runs/${run_id}/approve`, { always: 'tool' });
    expect(approved.status).toBe(200);
    const other = { ...written, arguments: { path: 'b' } };
    expect((await ask(agent, 'POST', '/api/execute', other)).body.status).toBe('success');
    expect((await ask(agent, 'GET', '/api/standing-approvals')).status).toBe(403);
    const listed = await ask(operator, 'GET', '/api/standing-approvals');
    expect(listed.body.approvals).toMatchObject([
      { node: 'desk:write', scope: 'tool', user: 'agent', allowed_by: 'operator' },
    ]);
    const path = `/api/standing-approvals/${listed.body.approvals[0].id}/revoke`;
    expect((await ask(agent, 'POST', path)).status).toBe(403);
    expect((await ask(operator, 'POST', path)).status).toBe(200);
    const again = { ...written, arguments: { path: 'c' } };
    expect((await ask(agent, 'POST', '/api/execute', again)).body.status).toBe('approval_required');
  });

  test('[RUNS-8] in the terminal', async () => {
    const { gateway } = await opened();
    const run = (...words: string[]) =>
      runCommand(words, { openGateway: async () => openedGateway(gateway) });
    const { runId } = await gateway.executeTool(call('a'), as('ana'));
    const approved = await run('runs', 'approve', runId, '--always', 'arguments', '--yes');
    expect(approved.err).toContain('pml runs allowed');
    const { out } = await run('runs', 'allowed');
    expect(out).toContain('{"path":"a"}');
    const [id] = out.split(/\s/);
    expect((await run('runs', 'revoke', id!)).out).toContain('desk:write need approval again');
    expect((await run('runs', 'allowed')).out).toContain('Nothing is approved');
  });
});
