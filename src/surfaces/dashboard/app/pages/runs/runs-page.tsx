import { PageHead } from '../../components/page-head.tsx';

export default function RunsPage() {
  return <PageHead title="Runs" />;
}
