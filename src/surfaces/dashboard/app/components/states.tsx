import type { ComponentChildren } from 'preact';
import type { Execution } from '../../shared/api-types.ts';
import { href } from '../../shared/routes.ts';
import { ApiError } from '../api.ts';
import { shownText } from '../format.ts';
import type { Loaded } from '../resource.ts';
import { Icon, type IconName, StatusBadge } from './badge.tsx';
import { Button } from './button.tsx';
import { JsonView, LongText } from './json-view.tsx';

/** Says that nothing is there yet, and how to change that. */
export function EmptyState({
  icon = 'spark',
  title,
  children,
}: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="state">
      <span class="state-icon">
        <Icon name={icon} size={26} />
      </span>
      <p class="state-title">{title}</p>
      {children && <div class="state-text">{children}</div>}
    </div>
  );
}

export function ErrorState({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  return (
    <div class="state state-bad" role="alert">
      <span class="state-icon">
        <Icon name="alert" size={26} />
      </span>
      <p class="state-title">{shownText(error.message)}</p>
      {error.hint && <p class="state-text">{shownText(error.hint)}</p>}
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Grey lines as a placeholder while loading. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} class="skeleton-line" />
      ))}
    </div>
  );
}

/** Loading, failed, or loaded: loaded data stays visible during a reload. */
export function Await<T>({
  of,
  lines,
  retry,
  children,
}: {
  of: Loaded<T>;
  /** Height of the skeleton. */
  lines?: number;
  retry?: () => void;
  children: (data: T) => ComponentChildren;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <ErrorState error={of.error} {...(retry && { onRetry: retry })} />;
  return <Skeleton {...(lines !== undefined && { lines })} />;
}

/** The outcome of a run: the result, the error, or the approval it waits for. */
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
            This run is waiting for a decision. <a href={href.workflow(run_id)}>Decide</a>
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
