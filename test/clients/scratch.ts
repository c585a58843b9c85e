/** What every part of `npm run clients` needs: a folder with packages from npm, and its place in docs/clients.md. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = join(ROOT, 'docs', 'clients.md');

export interface PartOptions {
  /** Names to which the part is limited; none: all. */
  readonly only: readonly string[];
  /** Where packages are installed. */
  readonly folder: string;
}

export interface PartReport {
  /** For the page. */
  readonly text: string;
  readonly failed: readonly string[];
}

/** A folder that stays where `given` names one, and is removed otherwise. */
export function openScratch(given: string | undefined): { readonly folder: string; remove(): void } {
  const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'pml-clients-')) : resolve(given);
  mkdirSync(folder, { recursive: true });
  return {
    folder,
    remove() {
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Packages whose install scripts change more than their own folder: this one installs a browser and system packages. */
const WITHOUT_SCRIPTS = { 'mcp-mermaid': false };

/** Installs what is not there yet: `name@version` each. */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'package.json');
  if (!existsSync(file))
    writeFileSync(file, JSON.stringify({ type: 'module', allowScripts: WITHOUT_SCRIPTS }));
  const missing = packages.filter(
    (each) => versionOf(folder, nameOf(each)) !== each.slice(nameOf(each).length + 1),
  );
  if (missing.length === 0) return;
  const args = ['install', '--no-audit', '--no-fund', '--save-exact', ...missing];
  await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 2 ** 26 });
}

export function nameOf(spec: string): string {
  return spec.replace(/(?<=.)@[^@]*$/, '');
}

/** Undefined for a package that is not installed. */
export function versionOf(folder: string, name: string): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** The command that runs an installed package: its program by name, or the only one it has. */
export function programOf(folder: string, name: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
  const path: string = typeof bin === 'string' ? bin : (Object.values(bin)[0] as string);
  return join(folder, 'node_modules', name, path);
}

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Replaces what the page says of this part. */
export function writePart(part: string, text: string): void {
  const begin = `<!-- measured by: npm run clients -- ${part} --write -->`;
  const page = readFileSync(PAGE, 'utf8');
  const start = page.indexOf(begin);
  if (start === -1) throw new Error(`docs/clients.md lacks ${begin}`);
  const end = page.indexOf('<!-- end -->', start);
  const date = new Date().toISOString().slice(0, 10);
  const measured = `${begin}\n\n${date}, Node ${process.versions.node}:\n\n${text}\n\n`;
  writeFileSync(PAGE, `${page.slice(0, start)}${measured}${page.slice(end)}`);
}
