import type { Approval } from '../../shared/api-types.ts';
import { shownText } from '../shown-text.ts';
import { JsonView } from './json-view.tsx';

/** Exactly what would run, whole, and what its server changed of it since it was accepted. */
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
          These are not all of its arguments: only the gateway that asked had them. It can be rejected here.
        </p>
      )}
      {changes.length > 0 && (
        <section class="approval-arguments" aria-label="Changed definition">
          <p>Its server changed this tool since it was accepted:</p>
          {changes.map(({ field, before, after }) => (
            <div key={field}>
              <p class="strong">{shownText(field)}</p>
              <JsonView value={before} name="accepted" isWhole />
              <JsonView value={after} name="now" isWhole />
            </div>
          ))}
        </section>
      )}
    </>
  );
}
