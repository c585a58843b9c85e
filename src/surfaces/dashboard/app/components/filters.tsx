import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Graph } from '../../shared/api-types.ts';
import { getJson } from '../api.ts';
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
  // Before the next key, and without taking the space from whoever pauses after a word.
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
