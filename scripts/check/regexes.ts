import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Node } from 'oxc-parser';
import type { Problem } from './problem.ts';
import { lineAt, literalText, parseFile, sourceFiles, walk } from './source-file.ts';

// The default backend would start a JVM or a native program if it finds one; plain JavaScript runs everywhere.
process.env.RECHECK_BACKEND = 'pure';
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const DEFAULTS = {
  /** Milliseconds for one expression; most take a few, on a busy machine some take ten thousand. */
  timeout: 60_000,
};

/**
 * Hashes of the expressions that were proven to take linear time. A proof takes up to seconds, and expressions hardly
 * ever change, so the file is committed; "npm run prove" proves all of them again.
 */
const SAFE = fileURLToPath(new URL('./linear-regexes.json', import.meta.url));

/** The folder of this project: results for other folders are not stored. */
const HOUSE = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Why the expression takes more than linear time; null if it does not. */
type Verdict = string | null;

/**
 * Text from outside is hostile and read on the main thread, so every regular expression must take linear time:
 * `/(a|\s)*$/` on a few dozen blanks would block the gateway forever.
 */
export function checkRegexes(root: string, isKnown = readSafe()): Problem[] {
  const verdicts = new Map<string, Verdict>([...isKnown].map((key) => [key, null]));
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const file of sourceFiles(root, ['src/**/*.{ts,tsx}'])) {
    if (/\.test\.tsx?$/.test(file.path)) continue;
    const { path, text, program } = parseFile(file);
    walk(program, (node) => {
      const line = lineAt(text, node.start);
      const found = expressionIn(node);
      if (found === 'built') {
        const message =
          'builds a regular expression that cannot be checked; write a literal, or scan by hand';
        problems.push({ file: path, line, message });
      } else if (found) {
        const { pattern, flags } = found;
        const key = createHash('sha256').update(`${pattern}/${flags}`).digest('base64url');
        const verdict = verdicts.has(key) ? verdicts.get(key)! : judge(pattern, flags);
        verdicts.set(key, verdict);
        const message = `/${pattern}/${flags} ${verdict}; scan by hand, or rewrite it so that it cannot backtrack`;
        if (verdict !== null) problems.push({ file: path, line, message });
        else seen.add(key);
      }
      return undefined;
    });
  }
  if (root === HOUSE && (seen.size !== isKnown.size || !seen.isSubsetOf(isKnown)))
    writeFileSync(SAFE, `${JSON.stringify([...seen].sort(), null, 2)}\n`);
  return problems;
}

function readSafe(): Set<string> {
  if (process.env.PML_PROOFS === 'full') return new Set();
  return new Set(JSON.parse(readFileSync(SAFE, 'utf8')) as string[]);
}

function expressionIn(node: Node): { pattern: string; flags: string } | 'built' | undefined {
  if (node.type === 'Literal' && 'regex' in node) return node.regex;
  const isCall = node.type === 'NewExpression' || node.type === 'CallExpression';
  if (!isCall || node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return undefined;
  const [pattern, flags] = node.arguments.map(literalText);
  return pattern === undefined ? 'built' : { pattern, flags: flags ?? '' };
}

function judge(pattern: string, flags: string): Verdict {
  const found = checkSync(pattern, flags, { timeout: DEFAULTS.timeout });
  if (found.status === 'safe') return null;
  if (found.status === 'unknown') return 'could not be proven to take linear time';
  return `takes ${found.complexity.summary.replace(' (fuzz)', '')} time`;
}
