/** Facts about this process. */
export interface ProcessContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** For a holder that only serves other processes of this user. */
export const LOOPBACK = { host: '127.0.0.1', port: 0 } as const;
