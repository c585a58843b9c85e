import type { ComponentType } from 'preact';
import type { PageName } from '../../shared/routes.ts';
import { EmptyState } from '../components/states.tsx';
import { lazy } from '../lazy.tsx';
import { route } from '../router.ts';
import { HomePage } from './home/home-page.tsx';

/** Home comes with the first view; all others when they are asked for. */
const PAGE_OF: Readonly<Record<PageName, ComponentType>> = {
  home: HomePage,
  graph: lazy(() => import('./graph/graph-page.tsx')),
  runs: lazy(() => import('./runs/runs-page.tsx')),
  workflows: lazy(() => import('./workflows/workflows-page.tsx')),
  capabilities: lazy(() => import('./capabilities/capabilities-page.tsx')),
  search: lazy(() => import('./search/search-page.tsx')),
  learning: lazy(() => import('./learning/learning-page.tsx')),
};

export function CurrentPage() {
  const { page } = route.value;
  if (page === null) {
    return (
      <EmptyState icon="info" title="There is nothing here">
        <a href="/">Back to Home</a>
      </EmptyState>
    );
  }
  const Page = PAGE_OF[page];
  return <Page key={page} />;
}
