import type { Capabilities } from '../../../shared/api-types.ts';
import { getJson } from '../../api.ts';
import { useResource } from '../../resource.ts';
import { nameOf } from './run-row.ts';

/** What people call a node: a capability by its slug, all else by its id. */
export function useNodeNames(): (node: string) => string {
  const { data } = useResource<Capabilities>('capability names', {
    load: (signal) => getJson('/capabilities', {}, signal),
    reloadOn: ({ type }) => type === 'capability_changed',
  }).state.value;
  return (node) => {
    const found = data?.capabilities.find(({ id }) => node === `capability:${id}`);
    return found ? `capabilities.${found.slug}` : nameOf(node);
  };
}
