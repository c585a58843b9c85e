import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const LICENCE_FILE = /^(?:licen[cs]e|notice|copying)\b/i;
const RULE = `\n${'-'.repeat(80)}\n\n`;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
  readonly repository?: string | { readonly url: string };
}

/** The licences of every package that one of these modules comes from, as the licences require. */
export function licencesOf(modules: readonly string[]): string {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
  const texts = [...folders].map(licenceOf).sort();
  return ['The code in this folder contains code of these packages.\n', ...texts].join(RULE);
}

/** The folder of the innermost package, if there is one. */
function packageFolder(module: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  const at = module.lastIndexOf(mark);
  if (at === -1) return undefined;
  const parts = module.slice(at + mark.length).split(sep);
  const name = parts.slice(0, parts[0]?.startsWith('@') ? 2 : 1).join(sep);
  return module.slice(0, at) + mark + name;
}

function licenceOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, author, repository } = manifest;
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  // A few packages state a licence without its text; then author and address must be enough.
  const by = typeof author === 'object' ? author.name : author;
  const from = typeof repository === 'object' ? repository.url : repository;
  const stated = [license, by, from].filter((line) => line !== undefined);
  return `${name} ${version}\n\n${(texts.length > 0 ? texts : stated).join('\n\n')}\n`;
}
