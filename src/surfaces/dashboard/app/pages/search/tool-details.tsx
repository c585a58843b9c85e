import { useEffect, useRef, useState } from 'preact/hooks';
import type { Execution, ExplainedHit, ScoreShares } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { rankingInWords } from '../../../shared/vocabulary.ts';
import { ApiError, postJson } from '../../api.ts';
import { WaitingCall } from '../../components/approval-item.tsx';
import { Button } from '../../components/button.tsx';
import { SchemaTable } from '../../components/code.tsx';
import { LongText } from '../../components/json-view.tsx';
import { MovedBars } from '../../components/line-chart.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { Outcome } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { percent, shownLine } from '../../format.ts';
import { location, setQuery } from '../../router.ts';

const DEFAULTS = {
  /** Strongest reasons to show. */
  shown: 7,
};

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

/** One tool: why it has its rank, its schema, and a form to call it. */
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
  // On narrow screens the details are below the list, so they are scrolled into view.
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
      <p class="muted search-note">See what search finds right after this tool.</p>
      <Button icon="clock" onClick={() => onContext(hit.tool_id)}>
        Add to the context
      </Button>
    </div>
  );
}

/** Calls the tool under the same policy as an agent's call, with the query as its intent. */
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
        A real call under the same policy as for an agent. It is stored as a run for “{shownLine(intent, 80)}
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

/** In words and figures: the text score and, if the ranker is in use, its contributions and similar runs. */
function WhyThisOne({ hit, rank }: { hit: ExplainedHit; rank: number }) {
  const { parts, reasons } = hit;
  return (
    <div class="stack">
      <p>
        Rank {rank}, {reasonOf(hit.shares)}.{' '}
        {parts.alpha < 1 && (
          <span class="muted">
            {reasons ? 'The learned score' : 'The text score'} weighs {percent(parts.alpha)}, the graph{' '}
            {percent(1 - parts.alpha)}.
          </span>
        )}
      </p>
      {reasons && (
        <div>
          <h3>Contributions</h3>
          <MovedBars
            label="Contributions to the rank of this tool"
            rows={reasons.parts
              .slice(0, DEFAULTS.shown)
              .map(({ name, moved }) => ({ name, title: rankingInWords(name), moved }))}
          />
        </div>
      )}
      {reasons && reasons.runs.length > 0 && (
        <div>
          <h3>Past runs that used it</h3>
          <ul class="search-runs">
            {reasons.runs.map(({ intent, similarity }) => (
              <li key={intent}>
                “{shownLine(intent, 140)}” <span class="faint">{percent(similarity)} alike</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div>
        <h3>Text score</h3>
        <dl class="facts">
          <dt>Meaning</dt>
          <dd>{parts.whole.toFixed(3)}, whole query</dd>
          <dt>Clause</dt>
          <dd>{parts.clause.toFixed(3)}, best part of the query, minus what all tools share with it</dd>
          <dt>Words</dt>
          <dd>{parts.lexical.toFixed(3)}, shared words (BM25)</dd>
          {parts.server !== undefined && (
            <>
              <dt>Server</dt>
              <dd>{parts.server.toFixed(3)}, the best tools of its server</dd>
            </>
          )}
          <dt>Name</dt>
          <dd>
            {parts.name === 0 ? 'name not in the query' : `${parts.name.toFixed(2)}, name in the query`}
          </dd>
          <dt>Together</dt>
          <dd>{hit.semantic_score.toFixed(3)}</dd>
          <dt>Graph</dt>
          <dd>
            {hit.graph_score === 0
              ? 'no relation to tools used just before'
              : `${hit.graph_score.toFixed(3)}, close to tools used just before`}
          </dd>
        </dl>
      </div>
    </div>
  );
}

/** The main reason for its rank. */
function reasonOf({ learned, graph, ...text }: ScoreShares): string {
  const byText = Object.values(text).reduce((sum, share) => sum + share, 0);
  if (graph > Math.max(learned, byText)) return 'mostly because of tools used just before';
  return learned > byText ? 'mostly because of past runs' : 'mostly because of its text';
}
