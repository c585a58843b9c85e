import type { Alerts, Approval, Capabilities, Runs, Servers, Stats } from '../shared/api-types.ts';
import { getJson } from './api.ts';
import { type Resource, useResource } from './resource.ts';

/** Statistics for Home and the navigation. */
export function useStats(): Resource<Stats> {
  return useResource<Stats>('stats', {
    load: (signal) => getJson('/stats', {}, signal),
    reloadOn: ({ type }) =>
      type === 'run_finished' ||
      type === 'approval_requested' ||
      type === 'approval_settled' ||
      type === 'capability_changed' ||
      type === 'catalogue_changed' ||
      type === 'config_reloaded',
  });
}

/** What is wrong now. */
export function useAlerts(): Resource<Alerts> {
  return useResource<Alerts>('alerts', {
    load: (signal) => getJson('/alerts', {}, signal),
    reloadOn: ({ type }) => type === 'alerts_changed',
  });
}

export function useServers(): Resource<Servers> {
  return useResource<Servers>('servers', {
    load: (signal) => getJson('/servers', {}, signal),
    apply: (data, event) =>
      event.type === 'server_state'
        ? {
            ...data,
            servers: data.servers.map((server) =>
              server.name === event.server
                ? { ...server, state: event.state, error: event.error, since: event.at }
                : server,
            ),
          }
        : data,
    reloadOn: ({ type }) => type === 'catalogue_changed' || type === 'config_reloaded',
  });
}

export function useCapabilities(): Resource<Capabilities> {
  return useResource<Capabilities>('capabilities', {
    load: (signal) => getJson('/capabilities', {}, signal),
    reloadOn: ({ type }) => type === 'capability_changed',
  });
}

/** Calls that wait for approval. */
export function useWaiting(): Pick<Resource<Runs>, 'state' | 'reload'> & {
  readonly waiting: readonly Approval[];
} {
  const { state, reload } = useResource<Runs>('waiting', {
    load: (signal) => getJson('/runs', { limit: 50 }, signal),
    reloadOn: ({ type }) =>
      type === 'approval_requested' ||
      type === 'approval_settled' ||
      type === 'task_changed' ||
      type === 'run_finished',
  });
  const approvals = state.value.data?.runs.flatMap((run) => run.approvals) ?? [];
  return { waiting: approvals.filter(({ state: decided }) => decided === 'pending'), state, reload };
}
