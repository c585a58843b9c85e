/** What one command printed. */
export interface Scene {
  /** A comment above the command. */
  readonly remark: string;
  readonly command: string;
  readonly lines: readonly string[];
}

const DEFAULTS = {
  columns: 100,
  fontSize: 14,
  /** Width of a character, in parts of the font size: that of the usual monospaced fonts. */
  advance: 0.602,
  lineHeight: 21,
  padding: 22,
  bar: 34,
  /** Seconds. */
  perCharacter: 0.035,
  perLine: 0.09,
  beforeOutput: 0.4,
  toRead: 4,
};

/** One beat of the picture: what appears, and when. */
interface Beat {
  readonly at: number;
  readonly markup: (name: string) => string;
}

/**
 * A terminal that types one command after the other, for ever. Styles animate it, so that it moves where an image may not
 * run scripts; without motion it shows the last scene.
 */
export function drawTerminal(title: string, scenes: readonly Scene[]): string {
  const { columns, fontSize, advance, lineHeight, padding, bar, toRead } = DEFAULTS;
  const rows = Math.max(...scenes.map(({ lines }) => lines.length)) + 2;
  const width = Math.ceil(columns * advance * fontSize + 2 * padding);
  const height = rows * lineHeight + bar + 2 * padding - 8;
  let clock = 0;
  const drawn = scenes.map((scene) => {
    const from = clock;
    const { beats, end } = beatsOf(scene, from);
    clock = end + toRead;
    return { from, to: clock, beats };
  });
  const total = clock;
  const styles: string[] = [];
  /** Scenes that are not seen without motion. */
  const hidden = drawn.slice(0, -1).map((_, s) => `s${s}`);
  const groups = drawn.map(({ from, to, beats }, s) => {
    styles.push(appear(`s${s}`, from, to, total));
    const parts = beats.map(({ at, markup }, i) => {
      styles.push(appear(`s${s}b${i}`, at, to, total));
      return markup(`s${s}b${i}`);
    });
    return `<g class="s${s}">${parts.join('')}</g>`;
  });
  const transcript = scenes.map(({ command, lines }) => [`$ ${command}`, ...lines].join('\n')).join('\n\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">${escaped(title)}</title>
<desc>${escaped(transcript)}</desc>
<style>
text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dce5; white-space: pre; }
.remark { fill: #7f8aa3; } .prompt { fill: #6fd08c; } .typed { fill: #ffffff; } .good { fill: #6fd08c; } .name { fill: #8db8ff; }
${hidden.map((name) => `.${name} { opacity: 0; }`).join(' ')}
@media (prefers-reduced-motion: no-preference) {
${styles.join('\n')}
}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#14181f"/>
<rect width="${width}" height="${bar}" rx="10" fill="#1f2530"/><rect y="${bar - 10}" width="${width}" height="10" fill="#1f2530"/>
<circle cx="22" cy="17" r="6" fill="#ff5f57"/><circle cx="42" cy="17" r="6" fill="#febc2e"/><circle cx="62" cy="17" r="6" fill="#28c840"/>
${groups.join('\n')}
</svg>
`;
}

function beatsOf({ remark, command, lines }: Scene, from: number): { beats: Beat[]; end: number } {
  const { perCharacter, perLine, beforeOutput } = DEFAULTS;
  const beats: Beat[] = [
    { at: from, markup: (name) => line(0, name, `<tspan class="remark"># ${escaped(remark)}</tspan>`) },
  ];
  beats.push({ at: from, markup: (name) => line(1, name, '<tspan class="prompt">$ </tspan>') });
  let at = from + 0.5;
  // Typed word by word: a beat for each character would make the file three times as large.
  let typed = 0;
  for (const word of command.match(/\S+\s*/g) ?? []) {
    const start = typed;
    beats.push({
      at,
      markup: (name) => line(1, name, `<tspan class="typed">${escaped(word)}</tspan>`, 2 + start),
    });
    at += word.length * perCharacter;
    typed += word.length;
  }
  at += beforeOutput;
  for (const [i, text] of lines.entries()) {
    beats.push({ at, markup: (name) => line(2 + i, name, coloured(cut(text))) });
    at += perLine;
  }
  return { beats, end: at };
}

function line(row: number, name: string, content: string, column = 0): string {
  const { fontSize, advance, lineHeight, padding, bar } = DEFAULTS;
  const x = (padding + column * advance * fontSize).toFixed(1);
  return `<text class="${name}" x="${x}" y="${bar + padding + row * lineHeight + 6}">${content}</text>`;
}

/** Seen from `at` to `to`. */
function appear(name: string, at: number, to: number, total: number): string {
  const share = (seconds: number) => `${((100 * seconds) / total).toFixed(2)}%`;
  const before = at === 0 ? '' : `0%{opacity:0}${share(at - 0.01)}{opacity:0}`;
  const after =
    to >= total ? '100%{opacity:1}' : `${share(to)}{opacity:1}${share(to + 0.01)}{opacity:0}100%{opacity:0}`;
  const frames = `@keyframes ${name}{${before}${share(at)}{opacity:1}${after}}`;
  return `${frames}.${name}{animation:${name} ${total.toFixed(1)}s infinite}`;
}

function cut(text: string): string {
  return text.length <= DEFAULTS.columns ? text : `${text.slice(0, DEFAULTS.columns - 1)}…`;
}

function coloured(text: string): string {
  return escaped(text)
    .replaceAll(/✓/g, '<tspan class="good">✓</tspan>')
    .replaceAll(/\b\w+:\w[\w-]*\b(?!\/)/g, '<tspan class="name">$&</tspan>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
