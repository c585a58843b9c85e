import { createRedactor, type Redactor } from '../../src/core/tracing/redact.ts';
import type { Logger, LogLevel } from '../../src/engine/ports.ts';

interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Keeps every line, redacted as the real logger would write it. */
export function createMemoryLogger(
  redact: Redactor = createRedactor([]),
): Logger & { readonly lines: readonly LoggedLine[] } {
  const lines: LoggedLine[] = [];
  return {
    lines,
    log(level, message, fields = {}) {
      lines.push({ level, message: redact(message), fields: redact(fields) as Record<string, unknown> });
    },
  };
}
