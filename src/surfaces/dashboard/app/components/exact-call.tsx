import type { Approval } from '../../shared/api-types.ts';
import { alignLists } from '../align-lists.ts';
import { shownText } from '../format.ts';
import { JsonView } from './json-view.tsx';

const DEFAULTS = {
  /** Pairs of lines that are compared, so that a long definition does not hold up the page. */
  cells: 1_000_000,
};

/** The complete call, and changes of the tool's definition since it was accepted. */
export function ExactCall({ approval }: { approval: Approval }) {
  const { arguments: args, program = {}, definition_changes: changes = [], is_exact: isExact } = approval;
  return (
    <>
      <section class="approval-arguments" aria-label="Exact arguments">
        <JsonView value={args} name="arguments" isWhole />
        {Object.entries(program).map(([kind, text]) => (
          <JsonView key={kind} value={text} name={kind} isWhole />
        ))}
      </section>
      {isExact === false && (
        <p class="approval-rule" role="note">
          Not all arguments are shown: only the gateway that runs the call has them. Here it can only be
          rejected.
        </p>
      )}
      {changes.length > 0 && (
        <section class="approval-arguments" aria-label="Changed definition">
          <p>The server changed this tool after you accepted it:</p>
          {changes.map(({ field, before, after }) => (
            <div key={field}>
              <p class="strong">{shownText(field)}</p>
              <Changes before={before} after={after} />
            </div>
          ))}
        </section>
      )}
    </>
  );
}

/** Both texts line by line: what is gone, what is new, and what stays. */
function Changes({ before, after }: { before: unknown; after: unknown }) {
  const [old, now] = [linesOf(before), linesOf(after)];
  if (old.length * now.length > DEFAULTS.cells)
    return (
      <>
        <JsonView value={before} name="accepted" isWhole />
        <JsonView value={after} name="now" isWhole />
      </>
    );
  return (
    <pre class="changes">
      {alignLists(old, now, (a, b) => a === b).map(([was, is], nth) => {
        const Line = was === null ? 'ins' : is === null ? 'del' : 'span';
        return (
          <Line key={nth}>
            <span aria-hidden="true">{was === null ? '+ ' : is === null ? '− ' : '  '}</span>
            {is ?? was}
            {'\n'}
          </Line>
        );
      })}
    </pre>
  );
}

function linesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return shownText(whole).split('\n');
}
