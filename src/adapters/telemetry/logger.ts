import { styleText } from 'node:util';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import type { Redactor } from '../../core/tracing/redact.ts';
import type { Logger, LogLevel } from '../../engine/ports.ts';

interface LogLine {
  readonly level: LogLevel;
  /** ISO 8601. */
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

interface LoggerOptions {
  readonly level: LogLevel;
  readonly redact: Redactor;
  /** By default JSON unless the stream is a terminal. */
  readonly json?: boolean;
  /** By default stderr, because stdout is for results and the stdio protocol. */
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Fields that pino writes itself; a field of the same name would appear twice. */
const TAKEN = new Set(['level', 'time', 'msg']);
const COLOURS = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const;

export function createLogger(options: LoggerOptions): Logger {
  const { level, redact, stream = process.stderr } = options;
  const json = options.json ?? !stream.isTTY;
  surviveLostReader(stream);
  const colour = (lineLevel: LogLevel, text: string) =>
    styleText(COLOURS[lineLevel], text, { stream: stream as NodeJS.WriteStream });
  const sink: DestinationStream = json
    ? { write: (line) => void stream.write(line) }
    : { write: (line) => void stream.write(humanLine(JSON.parse(line), colour)) };
  const lines = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    sink,
  );

  return {
    log(lineLevel, message, fields = {}) {
      if (!lines.isLevelEnabled(lineLevel)) return;
      lines[lineLevel](withoutClashes(redact(fields) as object), redact(message));
    },
  };
}

function withoutClashes(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [TAKEN.has(name) ? `${name}_` : name, value]),
  );
}

const guarded = new WeakSet<object>();

/** If the log's reader is gone (EPIPE), lines are lost and the gateway keeps running. */
function surviveLostReader(stream: NodeJS.WritableStream): void {
  if (guarded.has(stream)) return;
  guarded.add(stream);
  stream.on('error', () => {});
}

/** `09:41:07 warn  server went away  server=github attempt=2` */
function humanLine(line: LogLine, colour: (level: LogLevel, text: string) => string): string {
  const { level, time, msg, ...fields } = line;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const pairs = Object.entries(fields).map(([name, value]) => `${printable(name)}=${fieldText(value)}`);
  return `${[clock, colour(level, level.padEnd(5)), printable(msg), ...pairs].join(' ')}\n`;
}

function fieldText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  return printable(isPlain ? value : JSON.stringify(value));
}

/** Text from a tool must not forge a log line, move the cursor or reverse text on a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return ' ';
    return `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
}
