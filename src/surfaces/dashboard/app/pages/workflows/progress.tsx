import type { ListedRun } from '../../../shared/run-types.ts';

const ORDER = ['success', 'running', 'waiting', 'error', 'skipped'] as const;

/** How many tasks are done, under way, waiting, failed, skipped: one stripe each. */
export function Progress({ run }: { run: ListedRun }) {
  const counts = new Map<string, number>();
  for (const [key, { status }] of Object.entries(run.tasks)) {
    // Items of a list belong to their task.
    if (key.includes('[')) continue;
    const shown = status === 'unknown' ? 'waiting' : status;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  const total = Math.max(run.task_count, 1);
  const told = ORDER.filter((status) => counts.has(status)).map(
    (status) => `${counts.get(status)} ${status}`,
  );
  return (
    <span
      class="progress"
      role="img"
      aria-label={`${told.join(', ') || 'nothing yet'} of ${run.task_count} tasks`}
    >
      {ORDER.map((status) => (
        <span
          key={status}
          class={`progress-part progress-${status}`}
          style={{ width: `${((counts.get(status) ?? 0) / total) * 100}%` }}
        />
      ))}
    </span>
  );
}
