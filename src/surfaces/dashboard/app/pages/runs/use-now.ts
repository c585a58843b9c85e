import { useEffect, useState } from 'preact/hooks';

const DEFAULTS = { everyMs: 200 };

/** The time in milliseconds since 1970, a few times a second while something is under way. */
export function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isTicking) return;
    const timer = setInterval(() => setNow(Date.now()), DEFAULTS.everyMs);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
