import { useMemo, useState } from 'preact/hooks';
import type { Suggestion } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, postJson } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { Await, EmptyState, ErrorState, Skeleton } from '../../components/states.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { plural } from '../../format.ts';
import { onEvents } from '../../live.ts';
import { useResource } from '../../resource.ts';
import { location, navigate, setQuery } from '../../router.ts';
import { refusal, who } from '../../who.ts';
import { PlanGraph, sureOf } from './plan-graph.tsx';
import { TaskDetails } from './task-details.tsx';
import { IntentBox } from './workflow-list.tsx';

/** A plan for an intent: the reasons and confidence of each task and edge, then its inputs, then its run. */
export function SuggestPage() {
  const intent = location.value.query.get('intent') ?? '';
  return (
    <>
      <PageHead title="Suggest a plan" lead="Based on past runs, the graph and the descriptions of tools." />
      <div class="stack">
        <IntentBox key={intent} intent={intent} />
        {intent && <SuggestedIfAllowed intent={intent} />}
      </div>
    </>
  );
}

/** Suggestions need the right to run, so the user's rights must be known first. */
function SuggestedIfAllowed({ intent }: { intent: string }) {
  if (who.value === undefined) return <Skeleton lines={6} />;
  const refused = refusal('run');
  return refused ? <EmptyState icon="info" title={refused} /> : <Suggested key={intent} intent={intent} />;
}

function Suggested({ intent }: { intent: string }) {
  const suggestion = useResource<Suggestion>(`suggestion ${intent}`, {
    load: (signal) => postJson('/suggest', { intent }, signal),
  });
  return (
    <Await of={suggestion.state.value} retry={suggestion.reload} lines={6}>
      {(data) =>
        data.plan.tasks.length === 0 ? (
          <EmptyState icon="search" title="No tool fits this">
            Try other words, or connect a server that can do it.
          </EmptyState>
        ) : (
          <SuggestedPlan intent={intent} suggestion={data} />
        )
      }
    </Await>
  );
}

function SuggestedPlan({ intent, suggestion }: { intent: string; suggestion: Suggestion }) {
  const { plan, edges, alternatives, confidence } = suggestion;
  const asked = location.value.query.get('task');
  const task = plan.tasks.find(({ id }) => id === asked) ?? plan.tasks[0];
  return (
    <>
      <div class="workflow-columns">
        <Panel
          title={plural(plan.tasks.length, 'task')}
          actions={
            <>
              <Badge tone="accent">{sureOf(confidence)} in all</Badge>
              <NotMeant id={suggestion.suggestion_id} />
            </>
          }
          flush
        >
          <PlanGraph
            plan={plan}
            selected={task?.id ?? null}
            onSelect={(id) => setQuery({ task: id })}
            reasonOf={(from, to) => edges.find((edge) => edge.from === from && edge.to === to)?.reason}
          />
        </Panel>
        {task && (
          <TaskDetails
            task={task}
            edges={edges.filter(({ to }) => to === task.id)}
            alternatives={alternatives[task.id] ?? []}
          />
        )}
      </div>
      <RunSuggestion intent={intent} suggestion={suggestion} />
    </>
  );
}

/** PML also learns from rejected suggestions. */
function NotMeant({ id }: { id: string | null }) {
  const [isSaid, setSaid] = useState(false);
  if (id === null) return null;
  const say = async () => {
    setSaid(true);
    await tellingOutcome(postJson(`/suggestions/${encodeURIComponent(id)}/reject`), 'Suggestion rejected');
  };
  return (
    <Button needs="run" kind="quiet" disabled={isSaid} onClick={() => void say()}>
      Not what I meant
    </Button>
  );
}

/** One form for the inputs, and the run itself: its page opens as soon as it has started. */
function RunSuggestion({ intent, suggestion }: { intent: string; suggestion: Suggestion }) {
  const { plan, suggestion_id } = suggestion;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const schema = useMemo(() => schemaOf(plan.inputs), [plan]);
  const run = async (values: object) => {
    setBusy(true);
    setError(null);
    const run_id = crypto.randomUUID();
    const workflow = { ...plan, arguments: { ...plan.arguments, ...values } };
    try {
      const body = { workflow, intent, run_id, ...(suggestion_id !== undefined && { suggestion_id }) };
      await Promise.race([postJson('/workflows', body), begun(run_id)]);
      navigate(href.workflow(run_id));
    } catch (thrown) {
      setError(ApiError.from(thrown));
      setBusy(false);
    }
  };
  return (
    <Panel title={plan.inputs.length === 0 ? 'Run it' : 'Inputs'}>
      <div class="stack">
        <SchemaForm
          schema={schema}
          submit={isBusy ? 'Running…' : 'Run this plan'}
          isBusy={isBusy}
          onSubmit={(values) => void run(values)}
        />
        {error && <ErrorState error={error} />}
      </div>
    </Panel>
  );
}

function schemaOf(inputs: Suggestion['plan']['inputs']): object {
  const properties = inputs.map(({ name, schema, description }) => [
    name,
    { ...(schema as object), ...(description !== undefined && { description }) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: inputs.map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Resolves when the first event of the run arrives. */
function begun(runId: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = onEvents((events) => {
      if (!events.some((event) => 'run_id' in event && event.run_id === runId)) return;
      stop();
      resolve();
    });
  });
}
