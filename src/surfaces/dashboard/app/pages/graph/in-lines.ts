const DEFAULTS = { width: 20 };

/** A long name in lines that are about as long as they should be, broken after separators only. */
export function inLines(name: string, width = DEFAULTS.width): string {
  const lines: string[] = [];
  let line = '';
  for (const part of name.split(/(?<=[_\-./: ])/)) {
    if (line !== '' && line.length + part.length > width) {
      lines.push(line);
      line = '';
    }
    line += part;
  }
  return [...lines, line].join('\n');
}
