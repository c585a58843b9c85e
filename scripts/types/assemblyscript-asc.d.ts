/**
 * The part of AssemblyScript's compiler that we call. The package's own declarations replace the global
 * `console` and `Math` of the whole project, so tsconfig.json points here instead.
 */
interface Files {
  readFile(name: string, baseDir: string): string | null;
  writeFile(name: string, contents: string | Uint8Array, baseDir: string): void;
  listFiles(dir: string, baseDir: string): string[] | null;
}

interface Outcome {
  readonly error: Error | null;
  readonly stderr: { toString(): string };
}

declare const asc: { main(args: readonly string[], files: Files): Promise<Outcome> };
export default asc;
