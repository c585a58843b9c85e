import type { LogLevel } from '../../engine/ports.ts';

interface LogLine {
  readonly level: LogLevel;
  /** ISO 8601. */
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** `09:41:07 warn  server went away  server=github attempt=2` */
export function humanLine(line: LogLine, colour: (level: LogLevel, text: string) => string): string {
  const { level, time, msg, ...fields } = line;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const pairs = Object.entries(fields).map(([name, value]) => `${printable(name)}=${fieldText(value)}`);
  return `${[clock, colour(level, level.padEnd(5)), printable(msg), ...pairs].join(' ')}\n`;
}

function fieldText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  return printable(isPlain ? value : JSON.stringify(value));
}

/** What comes from a tool must not forge a line, move the cursor or turn text around on a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return ' ';
    return `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
}
