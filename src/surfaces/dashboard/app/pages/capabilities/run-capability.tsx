import { useState } from 'preact/hooks';
import type { Capability, Execution } from '../../../shared/api-types.ts';
import { ApiError, postJson } from '../../api.ts';
import { Outcome } from '../../components/outcome.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { WaitingCall } from '../../components/waiting-call.tsx';

/** Runs it with arguments; what needs a person's approval waits for it, as it does for an agent. */
export function RunCapability({
  of: { slug, state, parameters, tools_used },
  onRun,
}: {
  of: Capability;
  onRun: () => void;
}) {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Execution | ApiError | null>(null);
  if (state === 'quarantined') return <p class="muted">It can be run again when it is released.</p>;
  const run = async (values: Readonly<Record<string, unknown>>) => {
    setRunning(true);
    setOutcome(null);
    const address = `/capabilities/${encodeURIComponent(slug)}/run`;
    setOutcome(await postJson<Execution>(address, { arguments: values }).catch(ApiError.from));
    setRunning(false);
    onRun();
  };
  return (
    <div>
      <SchemaForm
        schema={parameters}
        submit={isRunning ? 'Running…' : 'Run'}
        isBusy={isRunning}
        onSubmit={(values) => void run(values)}
      />
      <div class="form-outcome" aria-live="polite">
        {isRunning && <WaitingCall nodes={tools_used} />}
        {outcome && <Outcome of={outcome} />}
      </div>
    </div>
  );
}
