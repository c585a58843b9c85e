import { route } from '../../router.ts';
import { SuggestPage } from './suggest-page.tsx';
import { WorkflowList } from './workflow-list.tsx';
import { WorkflowPage } from './workflow-page.tsx';
import './workflows.css';

/**
 * `/workflows` is the list with pending approvals, `/workflows/ID` one workflow, `/workflows/new` a plan for
 * an intent.
 */
export default function WorkflowsPage() {
  const [id] = route.value.rest;
  if (id === undefined) return <WorkflowList />;
  return id === 'new' ? <SuggestPage /> : <WorkflowPage key={id} id={id} />;
}
