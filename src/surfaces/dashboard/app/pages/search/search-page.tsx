import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CapabilityHit, ExplainedHit, ExplainedSearch, ScoreShares } from '../../../shared/api-types.ts';
import { href, withQuery } from '../../../shared/routes.ts';
import { NOTHING_FITS, NOTHING_LEARNED_APPLIES } from '../../../shared/vocabulary.ts';
import { getJson } from '../../api.ts';
import { CapabilityName } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { SteadyWhole } from '../../components/steady-rows.tsx';
import { moveFocus } from '../../components/tabs.tsx';
import { number, percent, plural, shownLine } from '../../format.ts';
import { useCapabilities, useServers } from '../../overview.ts';
import { useResource } from '../../resource.ts';
import { location, setQuery } from '../../router.ts';
import { ToolDetails } from './tool-details.tsx';
import './search.css';
import { EmbeddedNews } from '../../notices.tsx';

const DEFAULTS = {
  limit: 20,
  /** Milliseconds without typing after which the search starts. */
  restMs: 250,
  /** Hits shown before "Show more". */
  shown: 10,
  /** Smaller shares get no colour. */
  least: 0.0005,
  /** Capabilities with a lower score are not relevant. */
  leastScore: 0.1,
  /** Capabilities to show. */
  capabilities: 5,
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
  // A changed address, for example from a link on this page, updates the field; a key after that is not undone.
  useLayoutEffect(() => {
    setText((typed) => (typed.trim() === asked ? typed : asked));
  }, [asked]);
  useLayoutEffect(() => {
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

/** In stacking order. */
const SHARES: readonly (readonly [keyof ScoreShares, string])[] = [
  ['semantic', 'meaning'],
  ['clause', 'clause'],
  ['lexical', 'words'],
  ['server', 'server'],
  ['name', 'name'],
  ['learned', 'learned'],
  ['graph', 'graph'],
];

/** Hits by rank; selecting one shows its details. The arrow keys move between them. */
function HitList({ hits, current }: { hits: readonly ExplainedHit[]; current: ExplainedHit }) {
  const { path, query } = location.value;
  const [isWhole, setWhole] = useState(hits.indexOf(current) >= DEFAULTS.shown);
  const shown = isWhole ? hits : hits.slice(0, DEFAULTS.shown);
  const greatest = Math.max(...hits.map(({ shares }) => heightOf(shares)));
  return (
    <ol class="hits" aria-label="Tools by rank" onKeyDown={(event) => moveFocus(event, 'a.hit')}>
      {shown.map((hit, i) => (
        <li key={hit.tool_id}>
          <a
            class="hit"
            href={withQuery(path, { ...Object.fromEntries(query), tool: hit.tool_id })}
            aria-current={hit === current ? 'true' : undefined}
          >
            <span class="hit-rank number">{i + 1}</span>
            <span class="hit-text">
              <span class="hit-head">
                <span class="strong mono">{shownLine(hit.tool_id, 90)}</span>
                <span class="hit-score number">{hit.final_score.toFixed(3).replace('-', '−')}</span>
              </span>
              <span class="cell-note muted">{shownLine(hit.description, 140)}</span>
              <ScoreBar hit={hit} greatest={greatest} />
            </span>
          </a>
        </li>
      ))}
      {shown.length < hits.length && (
        <li>
          <button type="button" class="more" onClick={() => setWhole(true)}>
            Show {hits.length - shown.length} more
          </button>
        </li>
      )}
    </ol>
  );
}

/** A score as a stack of its parts, relative to the greatest score; the figures are below. */
function ScoreBar({ hit, greatest }: { hit: ExplainedHit; greatest: number }) {
  const shares = SHARES.map(([name, title]) => ({ name, title, value: hit.shares[name] }));
  const told = shares.filter(({ value }) => Math.abs(value) >= DEFAULTS.least);
  return (
    <span class="score">
      <span class="score-bar" aria-hidden="true">
        {told.map(({ name, value }) => (
          <i
            key={name}
            class={`score-${name}`}
            style={{ width: `${(100 * Math.max(0, value)) / (greatest || 1)}%` }}
          />
        ))}
      </span>
      <span class="score-parts">
        {told.map(({ name, title, value }) => (
          <span key={name} class="score-part">
            <i class={`score-${name}`} aria-hidden="true" />
            {title} <b>{signed(value)}</b>
          </span>
        ))}
        {hit.parts.learned !== undefined && (
          <span>
            text alone <b>{signed(hit.semantic_score)}</b>
          </span>
        )}
      </span>
    </span>
  );
}

/** Height of a stack: negative shares appear in figures only. */
function heightOf(shares: ScoreShares): number {
  return Object.values(shares).reduce((sum, value) => sum + Math.max(0, value), 0);
}

/** Explains the colours that are present. */
function ShareLegend({ hits }: { hits: readonly ExplainedHit[] }) {
  const ABOUT: Readonly<Record<keyof ScoreShares, string>> = {
    semantic: 'similarity of the whole query',
    clause: 'similarity of the best part of the query',
    lexical: 'shared words',
    server: 'other tools of its server fit as well',
    name: 'name in the query',
    learned: 'learned from past runs, replaces the text score',
    graph: 'relation to tools used just before',
  };
  const there = SHARES.filter(([name]) =>
    hits.some(({ shares }) => Math.abs(shares[name]) >= DEFAULTS.least),
  );
  return (
    <ul class="score-legend">
      {there.map(([name, title]) => (
        <li key={name}>
          <i class={`score-${name}`} aria-hidden="true" />
          <span class="strong">{title}</span> <span class="muted">{ABOUT[name]}</span>
        </li>
      ))}
    </ul>
  );
}

function signed(value: number): string {
  return value < 0 ? `−${Math.abs(value).toFixed(2)}` : value.toFixed(2);
}

/** Capabilities are scored separately from tools: semantic similarity times reliability. */
function FoundCapabilities({ hits }: { hits: readonly CapabilityHit[] }) {
  const known = useCapabilities().state.value.data?.capabilities ?? [];
  const rows = hits.filter(({ score }) => score >= DEFAULTS.leastScore).slice(0, DEFAULTS.capabilities);
  if (rows.length === 0) return null;
  const reliabilityOf = (slug: string) => known.find((one) => one.slug === slug)?.reliability;
  return (
    <Panel title="Capabilities" flush>
      <DataTable
        label="Capabilities by rank"
        rows={rows}
        keyOf={({ slug }) => slug}
        hrefOf={({ slug }) => href.capability(slug)}
        columns={[
          { title: 'Name', cell: (hit) => <CapabilityName {...hit} /> },
          {
            title: 'Meaning',
            isNumber: true,
            isExtra: true,
            cell: ({ slug, score }) => {
              const reliability = reliabilityOf(slug);
              return reliability ? (score / reliability).toFixed(3) : '–';
            },
          },
          {
            title: '× reliability',
            isNumber: true,
            isExtra: true,
            cell: ({ slug }) => {
              const reliability = reliabilityOf(slug);
              return reliability === undefined ? '–' : percent(reliability);
            },
          },
          { title: 'Score', isNumber: true, cell: ({ score }) => score.toFixed(3) },
          { title: 'Uses', isNumber: true, cell: ({ uses }) => number(uses) },
        ]}
      />
    </Panel>
  );
}
