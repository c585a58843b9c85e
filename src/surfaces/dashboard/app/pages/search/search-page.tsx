import { PageHead } from '../../components/page-head.tsx';

export default function SearchPage() {
  return <PageHead title="Search" />;
}
