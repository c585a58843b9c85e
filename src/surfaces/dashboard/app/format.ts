/**
 * Characters that are invisible or change how other text is displayed: control characters except tab and line
 * feed, format characters (zero-width ones and direction marks; Boucher and Anderson, "Trojan Source", 2021),
 * and line separators.
 */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

export const number = (value: number) => NUMBER.format(value);
/** 97000 as 97K. */
export const compact = (value: number) => COMPACT.format(value);
/** 97000 as 97 KB. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${number(count / 1e3)} KB` : `${number(count / 1e6)} MB`;
}
export const percent = (share: number) => `${NUMBER.format(share * 100)}%`;

/** Milliseconds in a readable unit. */
export function duration(ms: number): string {
  if (ms < 1) return `${(ms * 1000).toFixed(0)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** With the day, unless it is today. */
export function moment(iso: string, now = new Date()): string {
  const at = new Date(iso);
  return at.toDateString() === now.toDateString()
    ? CLOCK.format(at)
    : `${DAY.format(at)}, ${CLOCK.format(at)}`;
}

/** How long ago. */
export function ago(iso: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** `plural(2, 'tool')` is `2 tools`. */
export const plural = (count: number, noun: string) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Text from servers, tools and agents, made safe to show: hidden characters become visible. */
export function shownText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(HIDDEN, escapeOf);
}

/** The same on one line, at most `max` characters long. */
export function shownLine(text: string, max = 200): string {
  const line = shownText(
    text
      .slice(0, max * 2)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

function escapeOf(mark: string): string {
  const code = mark.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
