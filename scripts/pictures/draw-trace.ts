/** A call of a run. */
export interface TracedCall {
  readonly name: string;
  /** 0 for what the run itself called. */
  readonly depth: number;
  /** Milliseconds since the first call. */
  readonly start: number;
  readonly duration: number;
  readonly success: boolean;
}

const DEFAULTS = {
  left: 300,
  width: 420,
  right: 90,
  row: 26,
  top: 58,
  /** A shorter bar would not be seen, in pixels. */
  leastBar: 3,
};

/** A run on a timeline, one row per call, on a light ground that reads in both themes. */
export function drawTrace(title: string, calls: readonly TracedCall[]): string {
  const { left, width, right, row, top, leastBar } = DEFAULTS;
  const end = Math.max(...calls.map(({ start, duration }) => start + duration));
  const x = (ms: number) => left + (width * ms) / end;
  const [total, height] = [left + width + right, top + calls.length * row + 14];
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = x(end * share).toFixed(1);
    return `<line x1="${at}" x2="${at}" y1="${top - 8}" y2="${height - 10}" stroke="#e6dfd4"/><text x="${at}" y="${top - 14}" text-anchor="middle" font-size="11" fill="#74695c">${Math.round(end * share)} ms</text>`;
  });
  const bars = calls.map(({ name, depth, start, duration, success }, i) => {
    const y = top + i * row;
    const isRoutine = name.startsWith('capabilities.');
    const colour = success ? (isRoutine ? '#a4500a' : '#0b62a8') : '#b3261e';
    const long = Math.max(leastBar, (width * duration) / end);
    return `<text x="${16 + depth * 18}" y="${y + 15}" font-weight="${isRoutine ? 600 : 400}">${success ? '' : '✗ '}${escaped(name)}</text><rect x="${x(start).toFixed(1)}" y="${y + 3}" width="${long.toFixed(1)}" height="16" rx="3" fill="${colour}"/><text x="${(x(start) + long + 6).toFixed(1)}" y="${y + 15}" font-size="11" fill="#665d52">${duration.toFixed(1)} ms</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${height}" width="${total}" font-family="system-ui, sans-serif" font-size="13" fill="#263140" role="img" aria-label="${escaped(title)}">
<rect width="${total}" height="${height}" rx="10" fill="#fffdf9"/>
<text x="16" y="26" font-weight="600" font-size="15">${escaped(title)}</text>
${[...marks, ...bars].join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
