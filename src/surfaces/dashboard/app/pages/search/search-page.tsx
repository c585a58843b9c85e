import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExplainedHit, ExplainedSearch } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { NOTHING_FITS, NOTHING_LEARNED_APPLIES } from '../../../shared/vocabulary.ts';
import { getJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { EmbeddedNews } from '../../components/embedded-news.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { SteadyWhole } from '../../components/steady-rows.tsx';
import { plural, shownLine } from '../../format.ts';
import { useServers } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { location, setQuery } from '../../router.ts';
import { FoundCapabilities, HitList, ShareLegend } from './hit-list.tsx';
import { ToolDetails } from './tool-details.tsx';
import './search.css';

const DEFAULTS = {
  limit: 20,
  /** Milliseconds without typing after which the search starts. */
  restMs: 250,
};

const EXAMPLES = ['read a text file', 'remember something about a person', 'add two numbers'];

/** What an agent would find for an intent, and why. The whole state is in the address. */
export default function SearchPage() {
  const { query } = location.value;
  const q = query.get('q') ?? '';
  return (
    <>
      <PageHead title="Search" lead="What an agent would find for an intent, and why." />
      <SearchBox />
      <EmbeddedNews />
      {q.trim() === '' ? <NothingAsked /> : <Results />}
    </>
  );
}

/** Tools used just before, from the address. */
function contextOf(query: URLSearchParams): readonly string[] {
  return query.get('context')?.split(',').filter(Boolean) ?? [];
}

function SearchBox() {
  const { query } = location.value;
  const asked = query.get('q') ?? '';
  const [text, setText] = useState(asked);
  const servers = useServers().state.value.data?.servers ?? [];
  const context = contextOf(query);
  // A changed address, for example from a link on this page, updates the field.
  useEffect(() => {
    setText((typed) => (typed.trim() === asked ? typed : asked));
  }, [asked]);
  useEffect(() => {
    if (text.trim() === asked) return;
    const timer = setTimeout(() => setQuery({ q: text.trim(), tool: undefined }), DEFAULTS.restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <search>
      <form
        class="search-box"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: text.trim(), tool: undefined });
        }}
      >
        <input
          type="search"
          data-search
          aria-label="What do you want to do"
          placeholder="What do you want to do?"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select
          aria-label="Server"
          value={query.get('server') ?? ''}
          onInput={(event) => setQuery({ server: event.currentTarget.value, tool: undefined })}
        >
          <option value="">All servers</option>
          {servers.map(({ name }) => (
            <option key={name} value={name}>
              {shownLine(name, 40)}
            </option>
          ))}
        </select>
        {context.length > 0 && (
          <div class="search-context">
            <span class="muted">Used just before:</span>
            {context.map((tool) => (
              <span key={tool} class="search-chip">
                <span class="mono">{shownLine(tool, 50)}</span>
                <Button
                  kind="quiet"
                  icon="cross"
                  aria-label={`Remove ${shownLine(tool, 50)} from the context`}
                  onClick={() => setQuery({ context: context.filter((one) => one !== tool).join(',') })}
                />
              </span>
            ))}
          </div>
        )}
      </form>
    </search>
  );
}

function Results() {
  const { query } = location.value;
  const asked = {
    q: query.get('q') ?? '',
    server: query.get('server') ?? undefined,
    context: query.get('context') ?? undefined,
  };
  const found = useResource<ExplainedSearch>(`search ${JSON.stringify(asked)}`, {
    load: (signal) =>
      getJson('/search', { ...asked, explain: 1, capabilities: 1, limit: DEFAULTS.limit }, signal),
    reloadOn: ({ type }) =>
      type === 'catalogue_changed' ||
      type === 'tools_embedded' ||
      type === 'gate_changed' ||
      type === 'capability_changed',
  });
  // Earlier results stay until the next response, so that nothing jumps while typing.
  const last = useRef<ExplainedSearch>(undefined);
  const { state } = found;
  last.current = state.value.data ?? last.current;
  const shown = state.value.error ? state.value : { ...state.value, data: state.value.data ?? last.current };
  // Results of another query are not held in place.
  const view = `${JSON.stringify(asked)} ${state.value.data !== undefined}`;
  return (
    <Await of={shown} retry={found.reload} lines={8}>
      {(data) => (
        <SteadyWhole of={data} view={view} news="Show the new ranking">
          {({ tools, capabilities }) => (
            <div class="stack">
              <FoundCapabilities hits={capabilities} />
              {tools.length === 0 ? (
                <EmptyState icon="search" title="Nothing found">
                  Try other words, or remove the server filter.
                </EmptyState>
              ) : (
                <FoundTools tools={tools} />
              )}
            </div>
          )}
        </SteadyWhole>
      )}
    </Await>
  );
}

function FoundTools({ tools }: { tools: readonly ExplainedHit[] }) {
  const { query } = location.value;
  const current = tools.find(({ tool_id }) => tool_id === query.get('tool')) ?? tools[0]!;
  const addContext = (tool: string) =>
    setQuery({ context: [...new Set([...contextOf(query), tool])].join(',') });
  return (
    <div class="columns search-columns">
      <Panel title={plural(tools.length, 'tool')} flush>
        <p class="search-how muted">
          {tools[0]!.fits === false ? NOTHING_FITS : <HowRanked share={tools[0]!.parts.learned_share} />}
        </p>
        <ShareLegend hits={tools} />
        <HitList hits={tools} current={current} />
      </Panel>
      <ToolDetails
        key={current.tool_id}
        hit={current}
        rank={tools.indexOf(current) + 1}
        intent={query.get('q') ?? ''}
        onContext={addContext}
      />
    </div>
  );
}

/** How the results were ranked: the learned share, or plain search. */
function HowRanked({ share }: { share: number | undefined }) {
  if (share === undefined)
    return (
      <>
        Ranked by text: the trained ranker is not in use yet.{' '}
        <a href={href.learning()}>Show what is missing</a>
      </>
    );
  if (share === 0) return <>{NOTHING_LEARNED_APPLIES}</>;
  return (
    <>
      Ranked by the trained ranker. <a href={href.learning()}>Why</a>
    </>
  );
}

function NothingAsked() {
  return (
    <EmptyState icon="search" title="What do you want to do?">
      <p>Search finds tools and capabilities by meaning, by words, and by what past runs used.</p>
      <p class="search-examples">
        {EXAMPLES.map((example) => (
          <a key={example} href={href.search(example)}>
            {example}
          </a>
        ))}
      </p>
    </EmptyState>
  );
}
