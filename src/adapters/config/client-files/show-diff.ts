import { createTwoFilesPatch } from 'diff';
import { withoutEnding } from '../../../core/vocabulary/text.ts';

const DEFAULTS = {
  context: 3,
  /** Some clients keep whole conversations on one line of the file. */
  longestLine: 240,
};

/** What changes in a file, as `diff -u` shows it; null is a file that is not there. */
export function showDiff(file: string, before: string | null, after: string | null): string {
  const patch = createTwoFilesPatch(
    before === null ? '/dev/null' : file,
    after === null ? '/dev/null' : file,
    before ?? '',
    after ?? '',
    undefined,
    undefined,
    { context: DEFAULTS.context },
  );
  return patch.slice(patch.indexOf('--- ')).split('\n').map(cut).join('\n');
}

function cut(line: string): string {
  const text = withoutEnding(line, '\r\t');
  return text.length <= DEFAULTS.longestLine ? text : `${text.slice(0, DEFAULTS.longestLine)} …`;
}
