import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { isConsentPath, type PageName } from '../../shared/routes.ts';
import { ApiError } from '../api.ts';
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx';
import { location, route } from '../router.ts';
import { HomePage } from './home/home-page.tsx';

const DEFAULTS = {
  /** Milliseconds between two reloads because of missing files. */
  reloadMs: 60_000,
};

/** Storage key of the time of the last such reload. */
const RELOADED = 'pml-reloaded';

/** Home is in the initial bundle; other pages are loaded on demand. */
const PAGE_OF: Readonly<Record<PageName, ComponentType>> = {
  home: HomePage,
  graph: lazy(() => import('./graph/graph-page.tsx')),
  runs: lazy(() => import('./runs/runs-page.tsx')),
  calls: lazy(() => import('./calls/calls-page.tsx')),
  approvals: lazy(() => import('./approvals/approvals-page.tsx')),
  workflows: lazy(() => import('./workflows/workflows-page.tsx')),
  capabilities: lazy(() => import('./capabilities/capabilities-page.tsx')),
  search: lazy(() => import('./search/search-page.tsx')),
  learning: lazy(() => import('./learning/learning-page.tsx')),
  keys: lazy(() => import('./keys/keys-page.tsx')),
};

/** Opened by the redirect of an authorization alone, so it is not in the navigation. */
const ConsentPage = lazy(() => import('./consent/consent-page.tsx'));

export function CurrentPage() {
  const { page } = route.value;
  if (isConsentPath(location.value.path)) return <ConsentPage />;
  if (page === null) {
    return (
      <EmptyState icon="info" title="Page not found">
        <a href="/">Back to Home</a>
      </EmptyState>
    );
  }
  const Page = PAGE_OF[page];
  return <Page key={page} />;
}

/**
 * An updated gateway no longer has the files of this page; loading it again gets the new ones. Not more often than
 * once in a while: the files may be missing for another reason.
 */
function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
    if (Date.now() - last < DEFAULTS.reloadMs) return false;
    sessionStorage.setItem(RELOADED, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}

/** A page whose code is loaded when it is first shown. */
function lazy(load: () => Promise<{ readonly default: ComponentType }>): ComponentType {
  const page = signal<ComponentType | null>(null);
  const failed = signal(false);
  let isAsked = false;
  const fetchCode = () => {
    isAsked = true;
    load().then(
      (module) => {
        page.value = module.default;
      },
      () => {
        if (mayReload()) window.location.reload();
        else failed.value = true;
      },
    );
  };
  return function LazyPage() {
    if (!isAsked) fetchCode();
    const Page = page.value;
    if (Page) return <Page />;
    if (!failed.value) return <Skeleton lines={6} />;
    const error = new ApiError(
      0,
      'unreachable',
      'This page could not be loaded',
      'The gateway may have been updated.',
    );
    return <ErrorState error={error} onRetry={() => window.location.reload()} />;
  };
}
