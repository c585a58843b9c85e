import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { type Arrow, importCycles } from './cycles.ts';
import { lowerFloors, matches, ROOMS, type Room, roomOf } from './house.ts';
import type { Problem } from './problem.ts';
import { impurities } from './purity.ts';
import { type Reference, referencesOf } from './references.ts';
import { type ParsedFile, parseFile, sourceFiles } from './source-file.ts';

/** Packages that tests may import in addition to those of their room. */
const TEST_PACKAGES = ['vitest', 'fast-check'];
const IS_TEST = /\.test\.tsx?$/;

/** Checks the import arrows: who may import whom, what is pure, and that there are no cycles. */
export function checkArrows(root: string): Problem[] {
  const problems: Problem[] = [];
  const arrows: Arrow[] = [];
  for (const file of sourceFiles(root, ['src/**/*.{ts,tsx}']).map(parseFile)) {
    if (file.syntaxError !== undefined) {
      problems.push({ file: file.path, message: `does not parse: ${file.syntaxError}` });
      continue;
    }
    const room = roomOf(placeOf(file.path));
    if (room === undefined) {
      const message = 'belongs to no room; see the table in ARCHITECTURE.md';
      problems.push({ file: file.path, message });
      continue;
    }
    const isTest = IS_TEST.test(file.path);
    const rights = isTest ? testRights(room) : ROOMS[room]!;
    if (room.startsWith('core/') && !isTest) problems.push(...impurities(file));
    for (const reference of referencesOf(file)) {
      const { line, kind, specifier } = reference;
      const message = fault(root, file, { name: room, isTest, ...rights }, reference);
      if (message !== undefined) problems.push({ file: file.path, line, message });
      if (kind === 'import' && specifier?.startsWith('.')) {
        arrows.push({ from: file.path, to: targetOf(file, specifier), line });
      }
    }
  }
  return [...problems, ...importCycles(arrows)];
}

type Importer = Omit<Room, 'at'> & { readonly name: string; readonly isTest: boolean };

function testRights(name: string): Room {
  const room = ROOMS[name]!;
  const packages = room.packages === 'any' ? room.packages : [...room.packages, ...TEST_PACKAGES];
  return { ...room, imports: [...room.imports, ...lowerFloors(name)], packages, builtins: true };
}

/** Why this import is not allowed; undefined if it is. */
function fault(root: string, file: ParsedFile, room: Importer, { specifier }: Reference): string | undefined {
  if (specifier === undefined) {
    if (room.packages === 'any') return undefined;
    return `imports a computed name: in ${room.name} every import is a literal, so that it can be checked`;
  }
  if (specifier.startsWith('.')) return faultOfFile(root, room, targetOf(file, specifier));
  if (/^(?:#|\/|file:|data:)/.test(specifier)) {
    return `imports ${specifier}: write a relative path or a package name`;
  }
  if (isBuiltin(specifier)) {
    return room.builtins ? undefined : `imports ${specifier}: ${room.name} may import no module of Node`;
  }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (room.packages === 'any' || matches(room.packages, name)) return undefined;
  return `imports ${specifier}: ${room.name} may import ${listed(room.packages, 'no npm package')}`;
}

function faultOfFile(root: string, room: Importer, target: string): string | undefined {
  if (!existsSync(join(root, target))) return `imports ${target}, which does not exist`;
  if (room.isTest && target.startsWith('test/')) return undefined;
  if (!target.startsWith('src/')) return `imports ${target}: nothing in src/ may import files outside it`;
  if (IS_TEST.test(target)) return `imports ${target}: nothing may import a test`;
  const other = roomOf(placeOf(target));
  if (other === undefined || other === room.name || matches(room.imports, other)) return undefined;
  const allowed = listed(room.imports, 'no other room');
  return `imports ${target}: ${room.name} may import ${allowed}, and ${other} is not among them`;
}

const listed = (names: readonly string[], none: string) =>
  names.length === 0 ? none : `only ${names.join(', ')}`;

/** Path under `src/`; a test counts as the file it tests. */
const placeOf = (path: string) => path.replace(/^src\//, '').replace(/\.test(?=\.tsx?$)/, '');

const targetOf = (file: ParsedFile, specifier: string) => posix.join(posix.dirname(file.path), specifier);
