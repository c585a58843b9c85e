import { useState } from 'preact/hooks';
import type { Execution, Suggestion } from '../../../shared/api-types.ts';
import { href, withQuery } from '../../../shared/routes.ts';
import { ApiError, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { ErrorState, Outcome } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { percent, shownLine } from '../../format.ts';
import { EmbeddedNews } from '../../notices.tsx';
import { useServers } from '../../overview.ts';
import { navigate } from '../../router.ts';

/** First programs for common servers; none changes anything. */
const SAMPLES: Readonly<Record<string, string>> = {
  filesystem: 'return await mcp.filesystem.list_allowed_directories({});',
  memory: 'return await mcp.memory.read_graph({});',
  everything: 'return await mcp.everything.echo({ message: "hello" });',
};
const PLAIN_SAMPLE = 'return [3, 1, 2].toSorted();';

/** The demo has done this job, in other words. */
const SAMPLE_JOB = 'make one summary out of all my notes';

const TABS = [
  { name: 'search', title: 'Find a tool' },
  { name: 'plan', title: 'Plan a job' },
  { name: 'code', title: 'Run code' },
] as const;

/** What an agent does, by hand: search, ask how a job was done before, and run a program that calls tools. */
export function TryIt() {
  const [current, setCurrent] = useState<(typeof TABS)[number]['name']>('search');
  return (
    <Panel title="Try it">
      <Tabs label="What to try" tabs={TABS} current={current} onChange={setCurrent}>
        {current === 'search' && <TrySearch />}
        {current === 'plan' && <TryPlan />}
        {current === 'code' && <TryCode />}
      </Tabs>
    </Panel>
  );
}

function TrySearch() {
  const [text, setText] = useState('');
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(href.search(text));
      }}
    >
      <label for="try-search">Describe what you want to do</label>
      <div class="try-line">
        <input
          id="try-search"
          type="search"
          data-search
          placeholder="read a text file"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" kind="primary" icon="search">
          Search
        </Button>
      </div>
      <EmbeddedNews />
    </form>
  );
}

/** Asked in any words: the plan for a job that was done before. */
function TryPlan() {
  const [text, setText] = useState(SAMPLE_JOB);
  const [found, setFound] = useState<Suggestion | ApiError | null>(null);
  const ask = async () =>
    setFound(await postJson<Suggestion>('/suggest', { intent: text }).catch(ApiError.from));
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <label for="try-plan">A job, in your own words</label>
      <div class="try-line">
        <input id="try-plan" required value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <Button needs="run" type="submit" kind="primary" icon="spark">
          Plan
        </Button>
      </div>
      <div aria-live="polite">
        {found instanceof ApiError && <ErrorState error={found} />}
        {found !== null && !(found instanceof ApiError) && <FoundPlan intent={text} found={found} />}
      </div>
    </form>
  );
}

function FoundPlan({ intent, found: { plan, confidence, basis } }: { intent: string; found: Suggestion }) {
  if (plan.tasks.length === 0) return <p class="muted">No past run and no tool fits this.</p>;
  const from = basis === 'runs' ? 'Known from past runs' : 'Found by tool descriptions';
  return (
    <>
      <p>
        {from}, {percent(confidence)} sure:
      </p>
      <ol>
        {plan.tasks.map(({ id, tool, capability, name, reason }) => (
          <li key={id}>
            <span class="strong">{shownLine(capability ?? tool ?? name ?? 'code', 60)}</span>
            {reason !== undefined && <span class="cell-note muted">{shownLine(reason, 120)}</span>}
          </li>
        ))}
      </ol>
      <a href={withQuery('/workflows/new', { intent })}>See the whole plan</a>
    </>
  );
}

function TryCode() {
  const names = useServers().state.value.data?.servers.map(({ name }) => name) ?? [];
  const sample = names.map((name) => SAMPLES[name]).find(Boolean) ?? PLAIN_SAMPLE;
  const [code, setCode] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Execution | ApiError | null>(null);
  const run = async () => {
    setRunning(true);
    setOutcome(await postJson<Execution>('/execute', { code: code ?? sample }).catch(ApiError.from));
    setRunning(false);
  };
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <label for="try-code">A program that calls tools</label>
      <textarea
        id="try-code"
        rows={4}
        spellcheck={false}
        value={code ?? sample}
        onInput={(event) => setCode(event.currentTarget.value)}
      />
      <div class="row">
        <Button needs="run" type="submit" kind="primary" icon="play" disabled={isRunning}>
          {isRunning ? 'Running…' : 'Run'}
        </Button>
      </div>
      <div aria-live="polite">{outcome && <Outcome of={outcome} />}</div>
    </form>
  );
}
