import { createTwoFilesPatch } from 'diff';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { decodeText, readBytes, type TextFile } from '../text-file.ts';
import { maskSecrets } from './mask-secrets.ts';

const DEFAULTS = {
  context: 3,
  /** Some clients keep whole conversations on one line of the file. */
  longestLine: 240,
};

/** What is to become of one file. */
export interface FileChange {
  readonly file: string;
  readonly label: string;
  readonly format: 'json' | 'toml';
  /** As it was read; null when there is none. */
  readonly present: TextFile | null;
  /** Null: the file goes. */
  readonly after: Buffer | null;
}

/** A change as a person sees it before it is made. */
export interface ShownChange {
  readonly file: string;
  readonly label: string;
  /** Unified, with what may be secret hidden. */
  readonly diff: string;
}

export function isChange({ present, after }: FileChange): boolean {
  return present === null || after === null ? present !== after : !present.bytes.equals(after);
}

export function showChanges(changes: readonly FileChange[]): ShownChange[] {
  const texts = changes.flatMap(({ present, after, format }) => [
    { text: present?.text ?? '', format },
    { text: after ? decodeText(after).text : '', format },
  ]);
  const masked = maskSecrets(texts);
  return changes.map(({ file, label, present, after }, index) => {
    const before = present && masked[2 * index]!;
    return { file, label, diff: showDiff(file, before, after && masked[2 * index + 1]!) };
  });
}

/** Between the look at the diff and the yes a client may have written its file. */
export async function refuseIfStale(changes: readonly FileChange[]): Promise<void> {
  for (const { file, present } of changes) {
    const now = await readBytes(file);
    const isSame = now === null || present === null ? now === present : now.equals(present.bytes);
    if (isSame) continue;
    throw new PmlError('file_changed', `${file} was changed by another program just now`, {
      hint: 'Nothing was written. Run the command again.',
    });
  }
}

/** What changes in a file, as `diff -u` shows it; null is a file that is not there. */
function showDiff(file: string, before: string | null, after: string | null): string {
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
