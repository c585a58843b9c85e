import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** As strict as a careful user's project; imported declarations are checked too. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
  noEmit: true,
  target: 'esnext',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['esnext', 'dom'],
  types: [],
};

/** Compiles these files in their own folder, with everything there; returns the errors. */
export async function typeCheck(
  dir: string,
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const config = { compilerOptions: { ...STRICT, ...options }, files: Object.keys(files) };
  const all = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify(config),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(dir, name), text);
  return await new Promise((resolve, reject) =>
    execFile(
      process.execPath,
      [TSC, '--pretty', 'false', '-p', '.'],
      { cwd: dir },
      (error, stdout, stderr) => (error && stdout === '' ? reject(new Error(stderr)) : resolve(stdout)),
    ),
  );
}
