import type { GuestCallError, GuestFailure } from '../ports/sandbox.ts';

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
    'The program waits for a promise that nothing can settle: no call is under way, and there are no timers',
};
