import { PageHead } from '../../components/page-head.tsx';

export default function CapabilitiesPage() {
  return <PageHead title="Capabilities" />;
}
