import type { Problem } from './problem.ts';
import { lineAt, sourceFiles } from './source-file.ts';

const DEFAULTS = {
  /** In all of `src/`: a few are fine, but as a habit they make texts hard to read. */
  most: 25,
};

/** "whoever asks" is "the caller", "made anew" is "rebuilt", "is no tool" is "is not a tool" or "unknown tool". */
const AVOIDED = /\b(?:whoever|anew|is no|are no)\b/gi;

export function checkWords(root: string): Problem[] {
  const found = sourceFiles(root, ['src/**/*.{ts,tsx}']).flatMap(({ path, text }) =>
    [...text.matchAll(AVOIDED)].map(({ 0: words, index }) => ({ path, words, line: lineAt(text, index) })),
  );
  if (found.length <= DEFAULTS.most) return [];
  return found.map(({ path, words, line }) => ({
    file: path,
    line,
    message: `says "${words}", one of ${found.length} such places; at most ${DEFAULTS.most}: say who does what`,
  }));
}
