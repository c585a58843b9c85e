import { expect, test } from 'vitest';
import { cannotAsk } from './raw-server.ts';

test.each([
  ['elicitation/create', {}, { elicitation: {} }, true],
  ['elicitation/create', { mode: 'form' }, { elicitation: { form: {} } }, true],
  ['elicitation/create', {}, { elicitation: { url: {} } }, false],
  ['elicitation/create', { mode: 'url' }, { elicitation: {} }, false],
  ['elicitation/create', { mode: 'url' }, { elicitation: { url: {} } }, true],
  ['elicitation/create', {}, {}, false],
  ['sampling/createMessage', {}, { sampling: {} }, true],
  ['sampling/createMessage', { tools: [] }, { sampling: {} }, false],
  ['sampling/createMessage', { tools: [] }, { sampling: { tools: {} } }, true],
  ['roots/list', {}, { roots: {} }, true],
  ['roots/list', {}, {}, false],
  ['tools/list', {}, { tools: {} }, false],
] as const)('[MCP-15] %s with %j of a client with %j: %s', (method, params, capabilities, isPossible) => {
  expect(cannotAsk(capabilities, method, params) === null).toBe(isPossible);
});
