/** From the most to the least talkative (RFC 5424). */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Whether a message of `level` is wanted by someone who asked for `wanted` and what is graver. */
export function isGraveEnough(level: unknown, wanted: string): boolean {
  return LEVELS.indexOf(String(level)) >= LEVELS.indexOf(wanted);
}

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && LEVELS.includes(level);
}
