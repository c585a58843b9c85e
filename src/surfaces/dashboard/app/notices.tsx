import { effect, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { LiveEvent } from '../shared/events.ts';
import { href } from '../shared/routes.ts';
import { Button } from './components/button.tsx';
import { toast } from './components/toast.tsx';
import { number, plural, shownLine } from './format.ts';
import { onEvents } from './live.ts';

/** Storage key of whether this browser shows notifications. */
const NOTICES = 'pml-notices';

/** Whether this browser tells of calls that wait while the page is not in view. */
const areNoticesOn = signal(readNotices());

function canNotify(): boolean {
  return 'Notification' in window;
}

/** Asks the browser for permission, which it grants only to a user's click; false: notifications are off. */
async function switchNotices(isOn: boolean): Promise<boolean> {
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

/** Off until the user turns them on: no page asks for permission by itself. */
export function Notices() {
  if (!canNotify()) return null;
  const isOn = areNoticesOn.value;
  const change = async () => {
    if (!(await switchNotices(!isOn)) && !isOn) toast('The browser does not allow notifications here', 'bad');
  };
  return (
    <Button icon="bell" aria-pressed={isOn} onClick={() => void change()}>
      {isOn ? 'Notifications are on' : 'Notify me'}
    </Button>
  );
}

type Embedded = Extract<LiveEvent, { type: 'tools_embedded' }>;

/** Live note that more tools can now be found by meaning. */
export function EmbeddedNews() {
  const [news, setNews] = useState<Embedded | null>(null);
  useEffect(
    () =>
      onEvents((events) => {
        const newest = events.findLast((event) => event.type === 'tools_embedded');
        if (newest) setNews(newest);
      }),
    [],
  );
  return (
    <div role="status">
      {news && (
        <p class="muted">
          {plural(news.embedded, 'tool')} more {news.embedded === 1 ? 'is' : 'are'} found by meaning now:{' '}
          {number(news.by_meaning)} of {number(news.tools)}.
        </p>
      )}
    </div>
  );
}
