import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { Suggestion } from '../../../engine/learning/suggest.ts';

const SUGGESTION: Suggestion = {
  id: 's-1',
  plan: {
    tasks: [
      {
        id: 'read',
        tool: 'files:read',
        arguments: { path: '${path}' },
        dependsOn: [],
        reason: 'used in 3 of 4 like runs',
        confidence: 0.75,
      },
      { id: 'mail', capability: 'mail_it', arguments: {}, dependsOn: ['read'] },
    ],
    inputs: [{ name: 'path', schema: { type: 'string', description: 'Where\u001b[2J it lies' } }],
  },
  confidence: 0.625,
  support: 3,
  basis: 'runs',
  guesses: [],
  edges: [{ from: 'read', to: 'mail', reason: 'the text is mailed' }],
  alternatives: {},
  suggestedCapabilities: [
    {
      slug: 'tidy',
      description: 'Tidies up',
      parameters: {},
      score: 0.5,
      successRate: 1,
      uses: 4,
      toolsUsed: ['files:read'],
      toolsSequence: ['files:read'],
    },
  ],
};

const on = (parts: Partial<Gateway>) => ({
  openGateway: async () => openedGateway(handMadeGateway(parts)),
});

test('[LEARN-13] a suggested plan is printed step by step, with reasons, confidence and missing inputs', async () => {
  const { code, out } = await runCommand(['suggest', 'mail it'], on({ suggest: async () => SUGGESTION }));
  expect(code).toBe(0);
  expect(out).not.toContain('\u001b');
  expect(out.replace(/Where.* it/, 'Where it')).toBe(
    [
      'read  files:read',
      '      path: "${path}"',
      '      used in 3 of 4 like runs (75 %)',
      'mail  mail_it  after read',
      '      the text is mailed',
      '',
      'Inputs:',
      '  path (string): Where it lies',
      '',
      'Confidence 63 % (suggestion s-1)',
      '',
      'Capabilities that may fit:',
      '  tidy  Tidies up (0.500)',
      '',
    ].join('\n'),
  );
  const empty = { ...SUGGESTION, plan: { tasks: [], inputs: [] }, edges: [], suggestedCapabilities: [] };
  const none = await runCommand(['suggest', 'x'], on({ suggest: async () => empty }));
  expect(none.out).toMatch(/^No tool fits\..*\n$/);
  const unproven = { ...empty, basis: 'nothing' as const };
  const why = await runCommand(['suggest', 'x'], on({ suggest: async () => unproven }));
  expect(why.out).toMatch(/^No past run supports this/);
});

test('[LEARN-13] --json prints the plan as a workflow accepts it', async () => {
  const { out } = await runCommand(['suggest', 'x', '--json'], on({ suggest: async () => SUGGESTION }));
  expect(JSON.parse(out)).toMatchObject({
    plan: { tasks: [{ id: 'read' }, { id: 'mail', capability: 'mail_it', depends_on: ['read'] }] },
    confidence: 0.625,
    suggested_capabilities: [{ slug: 'tidy', success_rate: 1 }],
  });
});

test('[LEARN-22] the next step is printed with its probability and reason', async () => {
  const asked: unknown[] = [];
  const next = [
    { node: 'files:write', score: 0.75, reason: 'followed files:read in 3 of 4 runs' },
    { node: 'done', score: 0.25, reason: '1 of 4 runs with files:read ended after it' },
  ];
  const system = on({
    async predictNext(intent, executed) {
      asked.push([intent, executed]);
      return next;
    },
  });
  const { out } = await runCommand(['next', 'tidy up', '--after', 'files:list, files:read'], system);
  expect(asked).toEqual([['tidy up', ['files:list', 'files:read']]]);
  expect(out).toBe(
    [
      '0.750  files:write  followed files:read in 3 of 4 runs\n',
      '0.250  done         1 of 4 runs with files:read ended after it\n',
    ].join(''),
  );
  const json = JSON.parse((await runCommand(['next', 'tidy up', '--json'], system)).out);
  expect(json).toEqual({ next });
  const none = await runCommand(['next', 'x'], on({ predictNext: async () => [] }));
  expect(none.out).toMatch(/^No tool fits/);
});
