import { fileURLToPath } from 'node:url';
import { buildDashboard, isStale } from '../../scripts/dashboard/build-dashboard.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Tests in a browser look at the page as it stands in the sources. */
export default async function setup(): Promise<void> {
  if (isStale(ROOT)) await buildDashboard(ROOT);
}
