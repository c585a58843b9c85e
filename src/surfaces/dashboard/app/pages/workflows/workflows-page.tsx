import { PageHead } from '../../components/page-head.tsx';

export default function WorkflowsPage() {
  return <PageHead title="Workflows" />;
}
