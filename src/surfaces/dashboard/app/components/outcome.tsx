import type { Execution } from '../../shared/api-types.ts';
import { href } from '../../shared/routes.ts';
import { ApiError } from '../api.ts';
import { shownText } from '../format.ts';
import { StatusBadge } from './badge.tsx';
import { JsonView, LongText } from './json-view.tsx';
import { ErrorState } from './states.tsx';

/** What came of running something: the result, why there is none, or who has to decide first. */
export function Outcome({ of: outcome }: { of: Execution | ApiError }) {
  if (outcome instanceof ApiError) return <ErrorState error={outcome} />;
  const { status, run_id, trace_id, result, console: written, content, error } = outcome;
  return (
    <div class="outcome">
      <p class="row">
        <StatusBadge status={status} />
        {trace_id && <a href={href.run(trace_id)}>See the run</a>}
        {status === 'approval_required' && (
          <span>
            It waits for a person to decide. <a href={href.workflow(run_id)}>Decide</a>
          </span>
        )}
      </p>
      {error && (
        <p>
          <span class="bad">{shownText(error.message)}</span>
          {error.hint && <span class="muted"> {shownText(error.hint)}</span>}
        </p>
      )}
      {written && (
        <div class="json">
          <LongText text={written} />
        </div>
      )}
      {status === 'success' && <JsonView value={result} />}
      {content && content.length > 0 && <JsonView name="content" value={content} />}
    </div>
  );
}
