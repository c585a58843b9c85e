import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Graph } from '../../shared/api-types.ts';
import { getJson } from '../api.ts';
import { shownLine } from '../format.ts';
import { useResource } from '../resource.ts';
import { location, setQuery } from '../router.ts';
import { Icon } from './badge.tsx';

/** Hours for each value of a filter by time. */
const TIMES = { hour: 1, day: 24, week: 24 * 7 } as const;

const HOUR_MS = 3_600_000;

const DEFAULTS = {
  /** Milliseconds without typing after which the address changes. */
  typingMs: 250,
  /** Rounds times, so that the same address gives the same request for a while. */
  roundMs: 60_000,
  /** Characters of the name of a view. */
  nameLength: 40,
};

export const TIME_CHOICES = [
  ['', 'Any time'],
  ['hour', 'Last hour'],
  ['day', 'Last day'],
  ['week', 'Last week'],
] as const;

/** The moment that a value of the filter means; undefined for any time. */
export function sinceOf(time: string | undefined, now: number): string | undefined {
  const hours = TIMES[time as keyof typeof TIMES];
  if (hours === undefined) return undefined;
  const { roundMs } = DEFAULTS;
  return new Date(Math.floor((now - hours * HOUR_MS) / roundMs) * roundMs).toISOString();
}

/** A filter is in the address under its name; another value starts at the first page. */
export function changeFilter(name: string, value: string): void {
  setQuery({ [name]: value, before: undefined, after: undefined });
}

/** The filters among these names that are set. */
export function filtersIn<const Name extends string>(
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const { query } = location.value;
  const set = names.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(set) as Readonly<Partial<Record<Name, string>>>;
}

export function clearFilters(names: readonly string[]): void {
  setQuery(Object.fromEntries([...names, 'before', 'after'].map((name) => [name, undefined])));
}

export function Choice({
  name,
  label,
  value = '',
  options,
}: {
  name: string;
  label: string;
  value: string | undefined;
  options: readonly (readonly [string, string])[];
}) {
  return (
    <select
      aria-label={label}
      class={value ? 'filter-set' : undefined}
      value={value}
      onChange={(event) => changeFilter(name, event.currentTarget.value)}
    >
      {options.map(([key, title]) => (
        <option key={key} value={key} selected={key === value}>
          {title}
        </option>
      ))}
    </select>
  );
}

/** The search field of a list. */
export function SearchFilter({ label, value }: { label: string; value: string | undefined }) {
  return (
    <div class="filters-search">
      <Icon name="search" size={16} />
      <TypedFilter name="q" label={label} value={value ?? ''} isSearch />
    </div>
  );
}

/** All tools by name, as suggestions while typing. */
export function ToolFilter({ value }: { value: string | undefined }) {
  const graph = useResource<Graph>('graph', { load: (signal) => getJson('/graph', {}, signal) });
  const tools = (graph.state.value.data?.nodes ?? []).filter(({ kind }) => kind === 'tool');
  return (
    <>
      <TypedFilter name="tool" label="Any tool" value={value ?? ''} list="filter-tools" />
      <datalist id="filter-tools">
        {tools.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </>
  );
}

interface SavedView {
  readonly name: string;
  readonly query: string;
}

/** Links to what this browser keeps by name of a list, and a field to keep what is shown now. */
export function SavedViews({ path, known }: { path: string; known: readonly string[] }) {
  const key = `pml-views ${path}`;
  const [views, setViews] = useState(() => readViews(key));
  const [name, setName] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isNaming = name !== null;
  useEffect(() => {
    if (isNaming) field.current?.focus();
  }, [isNaming]);
  const current = viewNow();
  const keep = (next: readonly SavedView[]) => {
    setViews(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Without storage they last until the page is left.
    }
  };
  const save = () => {
    const given = name?.trim() ?? '';
    if (given !== '') keep([...views.filter((view) => view.name !== given), { name: given, query: current }]);
    setName(null);
  };
  const isNew = current !== '' && ![...known, ...views.map(({ query }) => query)].includes(current);
  return (
    <>
      {views.map((view) => (
        <span key={view.name} class="saved-view">
          <a href={`${path}?${view.query}`} aria-current={view.query === current ? 'page' : undefined}>
            {shownLine(view.name, DEFAULTS.nameLength)}
          </a>
          <button
            type="button"
            class="copy"
            aria-label={`Remove the view ${shownLine(view.name, DEFAULTS.nameLength)}`}
            onClick={() => keep(views.filter((one) => one !== view))}
          >
            <Icon name="cross" size={13} />
          </button>
        </span>
      ))}
      {isNew && !isNaming && (
        <button type="button" class="more" onClick={() => setName('')}>
          Save this view
        </button>
      )}
      {isNaming && (
        <form
          class="saved-view"
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <input
            ref={field}
            aria-label="Name of the view"
            placeholder="Name of the view"
            maxLength={DEFAULTS.nameLength}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Escape' && setName(null)}
          />
          <button type="submit" class="more">
            Save
          </button>
        </form>
      )}
    </>
  );
}

/** What the address narrows the list down to, on whatever page of it. */
export function viewNow(): string {
  const kept = [...location.value.query].filter(([name]) => !['after', 'before', 'compare'].includes(name));
  return new URLSearchParams(kept).toString();
}

function readViews(key: string): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    const isView = (view: unknown): view is SavedView =>
      typeof (view as SavedView)?.name === 'string' && typeof (view as SavedView).query === 'string';
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

/** Updates the address after a pause in typing. */
export function TypedFilter({
  name,
  label,
  value,
  isSearch = false,
  list,
}: {
  name: string;
  label: string;
  value: string;
  isSearch?: boolean;
  list?: string;
}) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Before the next key; a person who pauses after a word keeps the space behind it.
  useLayoutEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      type={isSearch ? 'search' : 'text'}
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      class={value ? 'filter-set' : undefined}
      value={text}
      {...(isSearch && { 'data-search': true })}
      {...(list && { list })}
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => changeFilter(name, typed.trim()), DEFAULTS.typingMs);
      }}
    />
  );
}
