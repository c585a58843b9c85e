import { computed, signal } from '@preact/signals';
import { isPagePath, PAGES, type PageName } from '../shared/routes.ts';

export interface Location {
  readonly path: string;
  readonly query: URLSearchParams;
}

const here = signal<Location>(read());

/** The current address; reading it in a component subscribes to it. */
export const location = computed(() => here.value);

/** The current page and the rest of the path, `/runs/abc` -> `{page: 'runs', rest: ['abc']}`. */
export const route = computed(() => routeOf(here.value.path));

function routeOf(path: string): { readonly page: PageName | null; readonly rest: readonly string[] } {
  const [first = '', ...rest] = path.split('/').filter(Boolean).map(decode);
  const page = PAGES.find((known) => known.path === `/${first}`);
  return { page: page?.name ?? null, rest };
}

/** Navigates, with a new history entry unless `replace` is set. */
export function navigate(to: string, options: { readonly replace?: boolean } = {}): void {
  const before = here.peek().path;
  history[options.replace ? 'replaceState' : 'pushState'](null, '', to);
  here.value = read();
  if (here.peek().path !== before) scrollTo(0, 0);
}

/**
 * Changes parts of the query and keeps the rest; an empty value removes one. A filter adds no history entry.
 */
export function setQuery(
  changes: Readonly<Record<string, string | undefined>>,
  options: { readonly replace?: boolean } = { replace: true },
): void {
  const { path, query } = here.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  navigate(text ? `${path}?${text}` : path, options);
}

/** Follows links within the page without a reload; others are left to the browser. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    here.value = read();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== window.location.origin)
      return;
    // Anchors on the current page are left to the browser, and so is the documentation.
    if (!isPagePath(link.pathname)) return;
    if (link.hash && link.pathname === window.location.pathname) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  });
}

function read(): Location {
  const { pathname, search } = window.location;
  return { path: pathname, query: new URLSearchParams(search) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
