import { PageHead } from '../../components/page-head.tsx';

export default function GraphPage() {
  return <PageHead title="Graph" />;
}
