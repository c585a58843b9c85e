import type { GuestCallError, GuestFailure, GuestLimit } from '../ports/sandbox.ts';
import type { SandboxSettings } from '../ports/settings.ts';

interface LimitText {
  /** Under `pml.sandbox` in the configuration. */
  readonly key: string;
  readonly what: (limits: SandboxSettings) => string;
}

const count = (value: number) => value.toLocaleString('en');

const TEXTS: Readonly<Record<GuestLimit, LimitText>> = {
  memory: { key: 'memory_mb', what: ({ memoryMb }) => `used more than ${count(memoryMb)} MB of memory` },
  cpu: { key: 'cpu_ms', what: ({ cpuMs }) => `computed for more than ${count(cpuMs)} ms` },
  wall: { key: 'wall_ms', what: ({ wallMs }) => `took longer than ${count(wallMs)} ms` },
  calls: { key: 'calls_total', what: ({ callsTotal }) => `made more than ${count(callsTotal)} calls` },
  arguments: {
    key: 'argument_bytes',
    what: ({ argumentBytes }) => `passed more than ${count(argumentBytes)} bytes of arguments to one call`,
  },
  result: {
    key: 'result_bytes',
    what: ({ resultBytes }) => `returned more than ${count(resultBytes)} bytes`,
  },
  console: {
    key: 'console_bytes',
    what: ({ consoleBytes }) => `printed more than ${count(consoleBytes)} bytes`,
  },
};

const advice = (limit: GuestLimit) => `the limit is pml.sandbox.${TEXTS[limit].key} in the configuration`;

/** The program went beyond a limit that ends it. */
export function limitFailure(limit: GuestLimit, limits: SandboxSettings): GuestFailure {
  const message = `The program ${TEXTS[limit].what(limits)}; ${advice(limit)}`;
  return { kind: 'limit', limit, message };
}

/** One call went beyond a limit: its caller may catch this. */
export function callTooLarge(
  part: 'arguments' | 'result',
  name: string,
  limits: SandboxSettings,
): GuestCallError {
  const bytes = count(part === 'arguments' ? limits.argumentBytes : limits.resultBytes);
  const what = part === 'arguments' ? 'The arguments of' : 'The result of';
  return {
    name: 'LimitError',
    code: 'too_large',
    message: `${what} ${name} ${part === 'arguments' ? 'have' : 'has'} more than ${bytes} bytes; ${advice(part)}`,
    errorType: 'VALIDATION',
  };
}

const PLACE_LENGTH = 16;

/** What a capability's caller is told when the capability fails. */
export function capabilityError(failure: GuestFailure): GuestCallError {
  const position = failure.kind === 'thrown' ? failure.position : undefined;
  const place = position ? ` (${position.file}:${position.line}:${position.column})` : '';
  return { name: 'CapabilityError', code: 'capability_failed', message: `${failure.message}${place}` };
}

/** The first place in a stack that lies in the program called `file`. The stack is the guest's own text. */
export function positionIn(
  stack: string,
  file: string,
): { file: string; line: number; column: number } | undefined {
  for (let at = stack.indexOf(`${file}:`); at !== -1; at = stack.indexOf(`${file}:`, at + 1)) {
    const start = at + file.length + 1;
    const place = /^(\d{1,7}):(\d{1,7})/.exec(stack.slice(start, start + PLACE_LENGTH));
    if (place) return { file, line: Number(place[1]), column: Number(place[2]) };
  }
  return undefined;
}

export const STUCK: GuestFailure = {
  kind: 'stuck',
  message:
    'The program waits for a promise that nothing can settle: no call is in progress, and the sandbox has no timers',
};
