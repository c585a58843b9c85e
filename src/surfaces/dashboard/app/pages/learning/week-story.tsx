import type {
  Activity,
  Answer,
  Capability,
  ExplainedSearch,
  Learning,
  SearchHit,
  Traces,
} from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Icon } from '../../components/badge.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Skeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { percent, plural, shownLine } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';
import { useResource } from '../../resource.ts';

const DEFAULTS = {
  days: 7,
  /** Routines that are told with their runs. */
  routines: 4,
  /** Past questions that are asked again, to find one that learning changed. */
  questions: 4,
  /** Tools that a search looks at, and those that are shown. */
  candidates: 50,
  shown: 5,
  /** Of the space that the story has while it loads. */
  lines: 6,
};

const DAY_MS = 86_400_000;

type Drift = Answer<'list_drift'>['drift'];

interface Week {
  readonly runs: number;
  readonly successes: number;
  readonly routines: readonly Capability[];
  readonly drift: Drift;
  readonly changed: ChangedSearch | null;
}

/** What was learned lately: from which runs, and what it changes. */
export function WeekStory({ of: known }: { of: Learning }) {
  const since = new Date(Date.now() - DEFAULTS.days * DAY_MS).toISOString();
  const capabilities = useCapabilities().state.value;
  const recent = (capabilities.data?.capabilities ?? [])
    .filter(({ state, created_at }) => state !== 'candidate' && created_at >= since)
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  const slugs = recent.slice(0, DEFAULTS.routines).map(({ slug }) => slug);
  const areKnown = capabilities.data !== undefined || capabilities.error !== undefined;
  const { data: week, error } = useResource<Week | null>(
    areKnown ? `week ${slugs.join(' ')}` : 'no week yet',
    {
      load: async (signal) => (areKnown ? await loadWeek(slugs, since, signal) : null),
      reloadOn: ({ type }) =>
        type === 'gate_changed' || type === 'ranker_trained' || type === 'drift_changed',
    },
  ).state.value;
  if (!week && !error && known.runs > 0) {
    // About as high as the story, so that nothing below moves far when it comes.
    return (
      <Panel title="This week">
        <Skeleton lines={DEFAULTS.lines} />
      </Panel>
    );
  }
  if (!week || week.runs === 0) return null;
  const trainings = known.history.filter(({ trained_at }) => trained_at >= since).length;
  return (
    <Panel title="This week">
      <div class="stack">
        <p>
          <a href={href.runs({ time: 'week' })}>{plural(week.runs, 'run')}</a>,{' '}
          {percent(week.successes / week.runs)} of them successful, taught PML{' '}
          {plural(recent.length, 'routine')}. The ranker{' '}
          {trainings === 0 ? 'was not trained' : `was trained ${plural(trainings, 'time')}`} and{' '}
          {known.gate.open ? 'ranks searches now' : 'does not rank searches yet'}.
        </p>
        {week.routines.length > 0 && (
          <ul class="week-routines">
            {week.routines.map((routine) => (
              <Routine key={routine.slug} of={routine} />
            ))}
          </ul>
        )}
        {week.drift.map(({ tool, changes }) => (
          <p key={tool} class="week-drift">
            <Icon name="alert" size={16} /> <a href={href.graph({ node: tool })}>{shownLine(tool, 60)}</a>{' '}
            answers differently now: {shownLine(changes[0]?.words ?? '', 160)}
          </p>
        ))}
        {week.changed ? (
          <BeforeAndAfter of={week.changed} />
        ) : (
          <p class="muted">
            Searches for the newest jobs find the same tools first as they did without any runs.
          </p>
        )}
      </div>
    </Panel>
  );
}

async function loadWeek(slugs: readonly string[], since: string, signal: AbortSignal): Promise<Week> {
  const detail = (slug: string) =>
    getJson<Capability>(`/capabilities/${encodeURIComponent(slug)}`, {}, signal).catch(() => null);
  const [{ hours }, { drift }, { traces }, ...routines] = await Promise.all([
    getJson<Activity>('/activity', { days: DEFAULTS.days }, signal),
    getJson<{ drift: Drift }>('/drift', {}, signal),
    getJson<Traces>('/traces', { since, limit: 40 }, signal),
    ...slugs.map(detail),
  ]);
  const intents = new Set(traces.flatMap(({ intent_text }) => intent_text ?? []));
  let changed: ChangedSearch | null = null;
  for (const question of [...intents].slice(0, DEFAULTS.questions)) {
    const asked = { q: question, explain: 1, limit: DEFAULTS.candidates };
    const { tools } = await getJson<ExplainedSearch>('/search', asked, signal);
    const found = changedSearch(question, tools);
    if (found && found.moved > (changed?.moved ?? 0)) changed = found;
  }
  return {
    runs: hours.reduce((sum, { runs }) => sum + runs, 0),
    successes: hours.reduce((sum, { successes }) => sum + successes, 0),
    routines: routines.filter((one) => one !== null),
    drift,
    changed,
  };
}

/** Its name, the runs it comes from, and whether they prove it. */
function Routine({ of: { slug, evidence, created_at } }: { of: Capability }) {
  const { run_ids, proof } = evidence;
  return (
    <li>
      <Icon name="capabilities" size={16} />
      <span>
        <a href={href.capability(slug)}>{shownLine(slug, 60)}</a> from{' '}
        {run_ids.map((id, i) => (
          <a key={id} href={href.run(id)}>
            {i > 0 && ', '}run {i + 1}
          </a>
        ))}
        {proof &&
          (proof.failure === null
            ? `, proven on ${plural(proof.cases.length, 'recording')}`
            : ', not proven on its recordings')}
        {', '}
        <Ago at={created_at} />
      </span>
    </li>
  );
}

interface ChangedSearch {
  readonly question: string;
  /** The first tools by text alone, and with what was learned. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** How many places the tool that is first now has risen. */
  readonly moved: number;
}

/** Null where the same tool is first. */
function changedSearch(
  question: string,
  hits: readonly Pick<SearchHit, 'tool_id' | 'semantic_score'>[],
): ChangedSearch | null {
  const byText = hits.toSorted((a, b) => b.semantic_score - a.semantic_score);
  const moved = byText.findIndex(({ tool_id }) => tool_id === hits[0]?.tool_id);
  if (moved <= 0) return null;
  const names = (some: typeof hits) => some.slice(0, DEFAULTS.shown).map(({ tool_id }) => tool_id);
  return { question, before: names(byText), after: names(hits), moved };
}

function BeforeAndAfter({ of: { question, before, after, moved } }: { of: ChangedSearch }) {
  const [first = ''] = after;
  return (
    <div>
      <p>
        A search for <a href={href.search(question)}>“{shownLine(question, 90)}”</a> finds{' '}
        <span class="mono">{shownLine(first, 60)}</span> first, {plural(moved, 'place')} higher than by text
        alone.
      </p>
      <div class="week-search">
        {[
          { title: 'By text alone', tools: before },
          { title: 'With what was learned', tools: after },
        ].map(({ title, tools }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ol>
              {tools.map((tool) => (
                <li key={tool} class={tool === first ? 'mono strong' : 'mono'}>
                  {shownLine(tool, 60)}
                </li>
              ))}
            </ol>
          </section>
        ))}
      </div>
    </div>
  );
}
