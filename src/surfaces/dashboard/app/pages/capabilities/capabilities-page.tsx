import { route } from '../../router.ts';
import { CapabilityList } from './capability-list.tsx';
import { CapabilityView } from './capability-view.tsx';
import './capabilities.css';

export default function CapabilitiesPage() {
  const [slug] = route.value.rest;
  return slug === undefined ? <CapabilityList /> : <CapabilityView key={slug} slug={slug} />;
}
