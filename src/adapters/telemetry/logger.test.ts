import { execFile } from 'node:child_process';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createRedactor } from '../../core/tracing/redact.ts';
import type { LogLevel } from '../../engine/ports.ts';
import { createLogger } from './logger.ts';

function logged(
  options: { level?: LogLevel; json?: boolean; isTTY?: boolean },
  use: (logger: ReturnType<typeof createLogger>) => void,
): string {
  let text = '';
  const writable = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const stream = Object.assign(writable, { isTTY: options.isTTY ?? false });
  use(createLogger({ level: 'info', redact: createRedactor(['hush-hush']), ...options, stream }));
  return text;
}

test('[LOG-1] without a terminal each line is one JSON object', () => {
  const text = logged({}, (logger) => {
    logger.log('warn', 'server went away', { server: 'github', attempt: 2 });
    logger.log('info', 'and came back');
  });
  const [first, second, ...rest] = text.split('\n');
  expect(JSON.parse(first!)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    server: 'github',
    attempt: 2,
    msg: 'server went away',
  });
  expect(JSON.parse(second!)).toMatchObject({ level: 'info', msg: 'and came back' });
  expect(rest).toEqual(['']);
});

test('[LOG-1] on a terminal each line is short and made for people, unless JSON is requested', () => {
  const say = (logger: ReturnType<typeof createLogger>) =>
    logger.log('warn', 'server went away', { server: 'github', why: 'exit code 1', tries: [1, 2] });
  const line = stripVTControlCharacters(logged({ isTTY: true }, say));
  expect(line).toMatch(
    /^\d\d:\d\d:\d\d warn {2}server went away server=github why="exit code 1" tries=\[1,2\]\n$/,
  );
  expect(JSON.parse(logged({ isTTY: true, json: true }, say))).toMatchObject({ level: 'warn' });
});

test('[LOG-1] a field named like a part of the line does not replace it', () => {
  const text = logged({}, (logger) => logger.log('info', 'hello', { msg: 'x', level: 'y', time: 'z' }));
  expect(JSON.parse(text)).toMatchObject({ level: 'info', msg: 'hello', msg_: 'x', level_: 'y', time_: 'z' });
});

test.each([true, false])('[LOG-2] secrets are hidden in message and fields (json: %s)', (json) => {
  const text = logged({ json }, (logger) =>
    logger.log('error', 'hush-hush failed with Bearer abcdef123456', {
      header: 'x hush-hush',
      password: 'p',
      error: new Error('hush-hush'),
    }),
  );
  expect(text).toContain('failed with Bearer [redacted]');
  expect(text).not.toMatch(/hush|abcdef/);
});

test('[LOG-3] lines below the level are not written', () => {
  const text = logged({ level: 'warn' }, (logger) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger.log(level, `at ${level}`);
  });
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).level),
  ).toEqual(['warn', 'error']);
});

test('[LOG-4] hostile text cannot start a second line or control the terminal', () => {
  const text = logged({ isTTY: true }, (logger) =>
    logger.log('info', 'a\n00:00:00 error forged\u001b[2J\r\u202e', { tool: 'b\nc', odd: 'd"\u001b[1m' }),
  );
  const bare = stripVTControlCharacters(text);
  expect(bare.split('\n')).toHaveLength(2);
  expect(text).not.toContain('\u001b[2J');
  expect(text).not.toContain('\u001b[1m');
  expect(bare).not.toMatch(/[\r\u202e]/);
});

test('[LOG-4] the process outlives the reader of its log, and stdout stays clean', async () => {
  const logger = fileURLToPath(new URL('./logger.ts', import.meta.url));
  const redact = fileURLToPath(new URL('../../core/tracing/redact.ts', import.meta.url));
  const program = `
    const { createLogger } = await import(${JSON.stringify(logger)});
    const { createRedactor } = await import(${JSON.stringify(redact)});
    const log = createLogger({ level: 'info', redact: createRedactor([]) });
    for (let i = 0; i < 200; i++) { log.log('info', 'line ' + i); await new Promise((r) => setTimeout(r, 1)); }
    process.stdout.write('survived');`;
  // Only stderr goes to the reader that leaves after one line; fd 3 is the real stdout.
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    'exec 3>&1; { "$0" --input-type=module -e "$1" 2>&1 >&3; } | head -1 >/dev/null',
    process.execPath,
    program,
  ]);
  expect(stdout).toBe('survived');
});
