/** A run with how a person decides about it, where it waits for that. */
export function withHowToSettle<T extends { readonly status: string; readonly run_id: string }>(run: T) {
  if (run.status !== 'approval_required') return run;
  const at = `POST /api/runs/${run.run_id}`;
  return {
    ...run,
    how_to_settle: { approve: `${at}/approve`, reject: `${at}/reject`, afterwards: `${at}/resume` },
  };
}
