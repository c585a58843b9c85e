import { expect, test } from 'vitest';
import { createRedactor } from '../../core/tracing/redact.ts';
import { createMemoryLogger } from './logger.ts';

test('[LOG-2] the twin keeps lines in order, redacted like the real one', () => {
  const logger = createMemoryLogger(createRedactor(['hush-hush']));
  logger.log('info', 'connected with hush-hush', { server: 'github', token: 'abc' });
  logger.log('error', 'gone');
  expect(logger.lines).toEqual([
    {
      level: 'info',
      message: 'connected with [redacted]',
      fields: { server: 'github', token: '[redacted]' },
    },
    { level: 'error', message: 'gone', fields: {} },
  ]);
});
