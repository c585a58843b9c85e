/** A finding of a check: where (path from the root, with `/`), what is wrong and how to fix it. */
export interface Problem {
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}

export function formatProblem({ file, line, message }: Problem): string {
  return `${file}${line === undefined ? '' : `:${line}`} ${message}`;
}
