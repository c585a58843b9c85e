import type { Node } from 'oxc-parser';
import type { Problem } from './problem.ts';
import { lineAt, parseFile, type SourceFile, sourceFiles, walk } from './source-file.ts';

const SPEC = 'docs/spec';
const RULE = /^- \*\*([^*]+)\*\*/gm;
const ID = /^[A-Z][A-Z0-9]*-[1-9]\d*$/;
const CITATION = /\[([A-Z][A-Z0-9]*-\d+)\]/g;
const TEST_WORDS = new Set(['test', 'it', 'describe']);
/** A test that does not run proves nothing. */
const IDLE_WORDS = new Set(['skip', 'todo']);

interface Place {
  readonly id: string;
  readonly file: string;
  readonly line: number;
}

/** Every rule of the spec is cited by a test, and every citation names a rule. */
export function checkSpecIds(root: string): Problem[] {
  const rules = sourceFiles(root, [`${SPEC}/*.md`]).flatMap(rulesIn);
  if (rules.length === 0) return [{ file: SPEC, message: 'is missing: it has the rules that tests cite' }];
  const citations = sourceFiles(root, ['src/**/*.test.{ts,tsx}', 'test/**/*.{ts,tsx}']).flatMap(citationsIn);
  const known = new Set(rules.map(({ id }) => id));
  const cited = new Set(citations.map(({ id }) => id));
  const first = new Map<string, Place>();
  const lastOfPrefix = new Map<string, Place>();
  const problems: Problem[] = [];
  for (const rule of rules) {
    const { id, ...place } = rule;
    const earlier = first.get(id);
    first.set(id, earlier ?? rule);
    if (!ID.test(id)) {
      problems.push({ ...place, message: `${id} is not a rule id: write it like ABC-1` });
      continue;
    }
    if (earlier) {
      problems.push({
        ...place,
        message: `${id} is defined twice, first at ${earlier.file}:${earlier.line}`,
      });
      continue;
    }
    const [prefix, number] = partsOf(id);
    const previous = lastOfPrefix.get(prefix);
    lastOfPrefix.set(prefix, rule);
    if (previous && previous.file !== rule.file)
      problems.push({
        ...place,
        message: `${id} belongs in ${previous.file}, with the other ${prefix} rules`,
      });
    else if (previous && partsOf(previous.id)[1] > number)
      problems.push({ ...place, message: `${id} is out of order: it comes before ${previous.id}` });
    if (!cited.has(id))
      problems.push({ ...place, message: `${id} is cited by no test: put [${id}] in a title` });
  }
  for (const { id, ...place } of citations) {
    if (!known.has(id)) problems.push({ ...place, message: `cites [${id}], which is not in ${SPEC}` });
  }
  return problems;
}

function partsOf(id: string): [prefix: string, number: number] {
  const [prefix, number] = id.split('-');
  return [prefix!, Number(number)];
}

function rulesIn({ path, text }: SourceFile): Place[] {
  return [...text.matchAll(RULE)].map((match) => ({
    id: match[1]!,
    file: path,
    line: lineAt(text, match.index),
  }));
}

/** Literal ids in brackets in the titles of tests and suites; a title built from data cites nothing. */
function citationsIn(source: SourceFile): Place[] {
  const found: Place[] = [];
  walk(parseFile(source).program, (node) => {
    if (node.type === 'CallExpression') {
      const words = calledWords(node.callee);
      const title = node.arguments[0];
      if (title && TEST_WORDS.has(words[0] ?? '') && !words.some((word) => IDLE_WORDS.has(word))) {
        for (const [, id] of writtenText(title).matchAll(CITATION)) {
          found.push({ id: id!, file: source.path, line: lineAt(source.text, title.start) });
        }
      }
    }
    return undefined;
  });
  return found;
}

/** `test.each(table)` as `['test', 'each']`. */
function calledWords(callee: Node): string[] {
  if (callee.type === 'Identifier') return [callee.name];
  if (callee.type === 'CallExpression') return calledWords(callee.callee);
  if (callee.type === 'TaggedTemplateExpression') return calledWords(callee.tag);
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return [];
  return [...calledWords(callee.object), callee.property.name];
}

function writtenText(node: Node): string {
  if (node.type === 'Literal') return String(node.value);
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.raw).join('…');
  return '';
}
