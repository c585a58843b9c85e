import { useEffect, useState } from 'preact/hooks';
import type { LiveEvent } from '../../shared/events.ts';
import { number, plural } from '../format.ts';
import { onEvents } from '../live.ts';

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
