import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a document. */
export interface Block {
  readonly page: string;
  readonly line: number;
  /** The heading of its section, of the second level. */
  readonly section: string;
  readonly language: string;
  /** The name of the file that it shows, if it shows one: the second word after the fence. */
  readonly file: string | null;
  readonly text: string;
  /** Why no test runs it: from `<!-- not run: … -->` on the line above. */
  readonly notRun: string | null;
}

/** What readers try: the README, the pages of `docs/` but not its rules and decisions, and the examples. */
const PAGES = ['README.md', 'docs/*.md', 'docs/reference/*.md', 'examples/README.md'];

export function documentedBlocks(): Block[] {
  return globSync(PAGES, { cwd: ROOT }).toSorted().flatMap(blocksOf);
}

function blocksOf(page: string): Block[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  const blocks: Block[] = [];
  let section = '';
  for (let i = 0; i < lines.length; i++) {
    const heading = /^## (.*)$/.exec(lines[i]!);
    if (heading) section = heading[1]!;
    const [, indent, language, file] = /^(\s*)```(\w*)(?: (\S+))?$/.exec(lines[i]!) ?? [];
    if (indent === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, i + 1);
    const inside = lines.slice(i + 1, end).map((line) => line.slice(indent.length));
    const notRun = /<!-- not run: (.+) -->/.exec(lines[i - 1] ?? '')?.[1] ?? null;
    blocks.push({
      page,
      line: i + 1,
      section,
      language: language!,
      file: file ?? null,
      text: inside.join('\n'),
      notRun,
    });
    i = end;
  }
  return blocks;
}

/** The commands of a shell block, each with its here-document or the rest of its loop. */
export function commandsIn(text: string): string[] {
  const commands: string[] = [];
  const lines = text.split('\n');
  while (lines.length > 0) {
    let command = lines.shift()!;
    const [, end] = /<<'?(\w+)'?/.exec(command) ?? [];
    const isOpen = () => (end === undefined ? /\\$/.test(command) : !command.endsWith(`\n${end}`));
    while (isOpen() && lines.length > 0) command += `\n${lines.shift()}`;
    if (!/^\s*(?:#.*)?$/.test(command)) commands.push(command);
  }
  return commands;
}
