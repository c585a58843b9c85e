import type { Trace } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import type { ErrorShape } from '../../../shared/run-types.ts';
import { Icon } from '../../components/icon.tsx';
import { shownText } from '../../shown-text.ts';
import { HINTS } from './call-details.tsx';
import { statusOf } from './run-row.ts';

/** Why a run did not succeed, and what to do next. */
export function RunError({ trace }: { trace: Trace }) {
  const status = statusOf(trace);
  if (status === 'success') return null;
  if (status === 'approval_required') {
    return (
      <div class="run-problem run-waits" role="status">
        <Icon name="hand" />
        <div>
          <p>
            <strong>It stopped for a person.</strong> {shownText(trace.error_message ?? '')}
          </p>
          <p>
            <a href={href.workflow(trace.run_id)}>See what was asked</a>
          </p>
        </div>
      </div>
    );
  }
  const told = trace.task_results
    .map((task) => (task as { error?: ErrorShape }).error)
    .find((error) => error !== undefined);
  const hint = told?.hint ?? (trace.error_type && HINTS[trace.error_type]);
  return (
    <div class="run-problem" role="status">
      <Icon name="alert" />
      <div>
        <p class="run-problem-text">{shownText((trace.error_message ?? 'It failed').slice(0, 4000))}</p>
        {hint && <p class="muted">{shownText(hint)}</p>}
      </div>
    </div>
  );
}
