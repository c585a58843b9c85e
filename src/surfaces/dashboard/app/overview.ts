import { effect, signal } from '@preact/signals';
import type { Alerts, Approval, Capabilities, Runs, Servers, Stats } from '../shared/api-types.ts';
import { href } from '../shared/routes.ts';
import { getJson } from './api.ts';
import { shownLine } from './format.ts';
import { onEvents } from './live.ts';
import { type Resource, useResource } from './resource.ts';

/** Storage key of whether this browser shows notifications. */
const NOTICES = 'pml-notices';

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

/** Whether this browser tells of calls that wait while the page is not in view. */
export const areNoticesOn = signal(readNotices());

export function canNotify(): boolean {
  return 'Notification' in window;
}

/** Asks the browser for permission, which it grants only to a user's click; false: notifications are off. */
export async function switchNotices(isOn: boolean): Promise<boolean> {
  areNoticesOn.value = isOn && (await Notification.requestPermission()) === 'granted';
  return areNoticesOn.value;
}

export function followApprovals(): void {
  effect(() => {
    try {
      localStorage.setItem(NOTICES, areNoticesOn.value ? 'on' : 'off');
    } catch {
      // Without storage the choice lasts until the page is left.
    }
  });
  onEvents((events) => {
    if (!areNoticesOn.peek() || document.visibilityState === 'visible') return;
    for (const event of events) if (event.type === 'approval_requested') notify(event);
  });
}

/** Names the tool and no arguments: others may see the screen. */
function notify({ approval_id, node }: { approval_id: string; node: string }): void {
  const notice = new Notification('A call waits for your approval', {
    body: shownLine(node, 80),
    tag: approval_id,
  });
  notice.onclick = () => {
    window.focus();
    window.location.assign(href.approvals());
  };
}

function readNotices(): boolean {
  try {
    return canNotify() && Notification.permission === 'granted' && localStorage.getItem(NOTICES) === 'on';
  } catch {
    return false;
  }
}
