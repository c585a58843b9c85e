import { PageHead } from '../../components/page-head.tsx';

export default function LearningPage() {
  return <PageHead title="Learning" />;
}
