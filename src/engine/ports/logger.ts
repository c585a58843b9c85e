export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Structured: a sentence for people, fields for machines. Secrets are redacted by the implementation. */
export interface Logger {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}
