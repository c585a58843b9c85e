import type { ErrorType } from '../vocabulary/trace-event.ts';

/** Tools say in words why they failed; these are the words they use. */
const WORDINGS: readonly (readonly [ErrorType, RegExp])[] = [
  ['TIMEOUT', /time[d]?[ -]?out|deadline/i],
  ['PERMISSION', /permission|denied|forbidden|unauthori[sz]ed|not allowed|\b40[13]\b/i],
  ['NOT_FOUND', /not found|no such|does ?n.t exist|unknown|ENOENT|\b404\b/i],
  ['VALIDATION', /invalid|validation|required|expected|must be|malformed|parse/i],
  ['NETWORK', /network|connect|ECONN|socket|unreachable|dns|\b50[234]\b/i],
];

export function classifyError(message: string): ErrorType {
  return WORDINGS.find(([, wording]) => wording.test(message))?.[0] ?? 'UNKNOWN';
}
