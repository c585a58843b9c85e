import { location, route } from '../../router.ts';
import { ComparePage } from './compare-page.tsx';
import { RunList } from './run-list.tsx';
import { RunPage } from './run-page.tsx';
import './runs.css';

/** `/runs` is the list, `/runs/ID` one run, `/runs?compare=A,B` two of them side by side. */
export default function RunsPage() {
  const [id] = route.value.rest;
  if (id !== undefined) return <RunPage key={id} id={id} />;
  const [left, right] = (location.value.query.get('compare') ?? '').split(',');
  if (left && right) return <ComparePage key={`${left},${right}`} ids={[left, right]} />;
  return <RunList />;
}
