import type { Capabilities, Learning } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Icon, type IconName } from '../../components/badge.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Ago } from '../../components/time.tsx';
import { plural, shownLine } from '../../format.ts';
import { useCapabilities } from '../../overview.ts';
import { useResource } from '../../resource.ts';

const DEFAULTS = { shown: 6 };

interface Lesson {
  readonly id: string;
  readonly at: string;
  readonly icon: IconName;
  readonly href: string;
  readonly title: string;
  readonly note: string;
}

/** Capabilities, candidates and trainings, newest first. */
export function LearnedLately() {
  const capabilities = useCapabilities();
  const learning = useResource<Learning>('learning', {
    load: (signal) => getJson('/learning', {}, signal),
    reloadOn: ({ type }) => type === 'ranker_trained' || type === 'gate_changed',
  });
  const trainings = learning.state.value.data;
  return (
    <Panel title="Recently learned" flush actions={<a href={href.learning()}>Learning</a>}>
      <Await of={capabilities.state.value} retry={capabilities.reload} lines={4}>
        {(known) => <Lessons lessons={lessonsOf(known, trainings)} />}
      </Await>
    </Panel>
  );
}

function Lessons({ lessons }: { lessons: readonly Lesson[] }) {
  if (lessons.length === 0) {
    return (
      <EmptyState icon="spark" title="Nothing yet">
        A program that succeeds twice becomes a capability that can be called by name.
      </EmptyState>
    );
  }
  return (
    <SteadyRows rows={lessons.slice(0, DEFAULTS.shown)} keyOf={({ id }) => id}>
      {(steady) => (
        <ul class="lessons">
          {steady.map((lesson) => (
            <li key={lesson.id}>
              <a href={lesson.href}>
                <Icon name={lesson.icon} />
                <span class="lesson">
                  <span class="strong ellipsis">{lesson.title}</span>
                  <span class="cell-note muted">{lesson.note}</span>
                </span>
                <Ago at={lesson.at} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </SteadyRows>
  );
}

function lessonsOf({ capabilities }: Capabilities, learning: Learning | undefined): Lesson[] {
  const admitted = capabilities.map(({ slug, description, state, created_at }): Lesson => {
    const isCandidate = state === 'candidate';
    return {
      id: `capability ${slug}`,
      at: created_at,
      icon: isCandidate ? 'clock' : 'capabilities',
      href: href.capability(slug),
      title: shownLine(slug, 60),
      note: isCandidate ? 'Seen once; becomes active after another success.' : shownLine(description, 90),
    };
  });
  const trained = (learning?.history ?? []).map(
    ({ trained_at, runs, gate }): Lesson => ({
      id: `training ${trained_at}`,
      at: trained_at,
      icon: 'learning',
      href: href.learning(),
      title: `Ranker trained on ${plural(runs, 'run')}`,
      note: gate.open ? 'In use: better than plain search.' : 'Not in use: plain search still ranks.',
    }),
  );
  return [...admitted, ...trained].sort((a, b) => b.at.localeCompare(a.at));
}
