import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The reference servers of the protocol, as a user writes them into a configuration. */
export function referenceServers(folder: string): Readonly<Record<string, object>> {
  return {
    filesystem: program('filesystem', folder),
    memory: { ...program('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
    everything: program('everything'),
    thinking: program('sequential-thinking'),
  };
}

/** Writes files for them: a short one and a long one. */
export function writeFiles(folder: string): { readonly note: string; readonly book: string } {
  const files = { note: join(folder, 'note.txt'), book: join(folder, 'book.txt') };
  writeFileSync(files.note, 'remember the milk');
  writeFileSync(files.book, 'It was a dark and stormy night. '.repeat(4_000));
  return files;
}

function program(name: string, ...args: string[]) {
  const file = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin: Record<string, string> };
  return { command: process.execPath, args: [join(dirname(file), Object.values(bin)[0] ?? ''), ...args] };
}
