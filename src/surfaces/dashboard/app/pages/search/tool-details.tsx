import { useEffect, useRef, useState } from 'preact/hooks';
import type { Execution } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import type { ExplainedHit } from '../../../shared/search-types.ts';
import { ApiError, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { LongText } from '../../components/json-view.tsx';
import { Outcome } from '../../components/outcome.tsx';
import { Panel } from '../../components/panel.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { SchemaTable } from '../../components/schema-table.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { WaitingCall } from '../../components/waiting-call.tsx';
import { location, setQuery } from '../../router.ts';
import { shownLine } from '../../shown-text.ts';
import { WhyThisOne } from './why-this-one.tsx';

const TABS = [
  { name: 'why', title: 'Why this one' },
  { name: 'schema', title: 'Schema' },
  { name: 'try', title: 'Try it' },
] as const;

const RELATIONS = {
  often_before: 'often before it',
  often_after: 'often after it',
  used_together: 'used together',
} as const;

/** One tool: why it stands where it does, what it takes, and a call by hand. */
export function ToolDetails({
  hit,
  rank,
  intent,
  onContext,
}: {
  hit: ExplainedHit;
  rank: number;
  intent: string;
  onContext: (tool: string) => void;
}) {
  const current = TABS.find(({ name }) => name === location.value.query.get('tab'))?.name ?? 'why';
  const ref = useRef<HTMLDivElement>(null);
  // Below the list on narrow screens: whoever chose one sees it.
  useEffect(() => {
    const isBelow = matchMedia('(max-width: 1080px)').matches;
    if (isBelow && location.peek().query.has('tool')) ref.current?.scrollIntoView({ block: 'start' });
  }, []);
  return (
    <div class="search-details" ref={ref}>
      <Panel
        title={<span class="mono">{shownLine(hit.tool_id, 90)}</span>}
        actions={
          <a class="search-graph" href={href.graph({ node: hit.tool_id })}>
            In the graph
          </a>
        }
      >
        <div class="stack">
          <p class="search-description">
            <LongText text={hit.description} />
          </p>
          <Tabs label="About this tool" tabs={TABS} current={current} onChange={(tab) => setQuery({ tab })}>
            {current === 'why' && (
              <div class="stack">
                <WhyThisOne hit={hit} rank={rank} />
                <Related hit={hit} onContext={onContext} />
              </div>
            )}
            {current === 'schema' && (
              <SchemaTable schema={hit.input_schema} nothing="It takes no arguments." />
            )}
            {current === 'try' && <TryTool hit={hit} intent={intent} />}
          </Tabs>
        </div>
      </Panel>
    </div>
  );
}

function Related({ hit, onContext }: { hit: ExplainedHit; onContext: (tool: string) => void }) {
  return (
    <div>
      <h3>In context</h3>
      {hit.related_tools.length > 0 && (
        <ul class="search-related">
          {hit.related_tools.map(({ tool_id, relation, score }) => (
            <li key={`${tool_id} ${relation}`}>
              <a class="mono" href={href.graph({ node: tool_id })}>
                {shownLine(tool_id, 60)}
              </a>
              <span class="muted">{RELATIONS[relation]}</span>
              <span class="number faint">{score.toFixed(2)}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="muted search-note">What would be found next, had this one just been used?</p>
      <Button icon="clock" onClick={() => onContext(hit.tool_id)}>
        Add to the context
      </Button>
    </div>
  );
}

/** The call goes through the same policy as an agent's, with what was searched for as its intent. */
function TryTool({ hit, intent }: { hit: ExplainedHit; intent: string }) {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Execution | ApiError | null>(null);
  const call = async (values: Readonly<Record<string, unknown>>) => {
    setRunning(true);
    setOutcome(null);
    const body = { tool: hit.tool_id, arguments: values, intent };
    setOutcome(await postJson<Execution>('/execute', body).catch(ApiError.from));
    setRunning(false);
  };
  return (
    <div>
      <p class="muted search-lead">
        A real call, by the same policy as an agent's. It is remembered as a run for “{shownLine(intent, 80)}
        ”.
      </p>
      <SchemaForm
        schema={hit.input_schema}
        submit={isRunning ? 'Calling…' : 'Call'}
        isBusy={isRunning}
        onSubmit={(values) => void call(values)}
      />
      <div class="form-outcome" aria-live="polite">
        {isRunning && <WaitingCall nodes={[hit.tool_id]} />}
        {outcome && <Outcome of={outcome} />}
      </div>
    </div>
  );
}
