import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Node } from 'oxc-parser';
import type { Problem } from './problem.ts';
import { lineAt, literalText, parseFile, sourceFiles, walk } from './source-file.ts';

// It would start a JVM or a program made for one platform where it finds them; plain JavaScript is everywhere.
process.env.RECHECK_BACKEND = 'pure';
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const DEFAULTS = {
  /** Milliseconds for one expression; most take a few, on a busy machine some take ten thousand. */
  timeout: 60_000,
};

/** Looking at an expression takes up to seconds, and hardly any changes from one check to the next. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/pml/regexes.json', import.meta.url));

/** What takes more than linear time on some text; null when nothing does. */
type Verdict = string | null;

/**
 * Text from outside is hostile and looked at on the main thread, so no regular expression may take more than
 * linear time: `/(a|\s)*$/` on a few dozen blanks would be the last thing the gateway does.
 */
export function checkRegexes(root: string): Problem[] {
  const verdicts = readCache();
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
        if (verdicts[key] === undefined) verdicts[key] = judge(pattern, flags);
        const verdict = verdicts[key];
        const message = `/${pattern}/${flags} ${verdict}; scan by hand, or let it match where it would fail`;
        if (verdict !== null) problems.push({ file: path, line, message });
      }
      return undefined;
    });
  }
  mkdirSync(dirname(CACHE), { recursive: true });
  // In one go, as another check may read it meanwhile.
  writeFileSync(`${CACHE}.${process.pid}`, JSON.stringify(verdicts));
  renameSync(`${CACHE}.${process.pid}`, CACHE);
  return problems;
}

function readCache(): Record<string, Verdict> {
  try {
    return JSON.parse(readFileSync(CACHE, 'utf8'));
  } catch {
    return {};
  }
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
  if (found.status === 'unknown') return 'could not be shown to take linear time';
  return `takes ${found.complexity.summary.replace(' (fuzz)', '')} time`;
}
