/**
 * What cannot be seen, or makes other text be seen elsewhere: control characters but for tab and line
 * feed, format characters (zero-width ones and the marks that turn the direction of writing among them;
 * Boucher and Anderson, "Trojan Source", 2021), and separators of lines.
 */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text of servers, tools and agents as it may be shown: nothing in it hides or moves. */
export function shownText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(HIDDEN, escapeOf);
}

/** The same on one line and not longer than `max`. */
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
