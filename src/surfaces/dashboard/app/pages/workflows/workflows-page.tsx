import { route } from '../../router.ts';
import { SuggestPage } from './suggest-page.tsx';
import { WorkflowList } from './workflow-list.tsx';
import { WorkflowPage } from './workflow-page.tsx';
import './workflows.css';

/** `/workflows` is the list with all that waits, `/workflows/ID` one of them, `/workflows/new` a plan from an intent. */
export default function WorkflowsPage() {
  const [id] = route.value.rest;
  if (id === undefined) return <WorkflowList />;
  return id === 'new' ? <SuggestPage /> : <WorkflowPage key={id} id={id} />;
}
