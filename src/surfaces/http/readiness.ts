const DEFAULTS = {
  /** Milliseconds a result is cached: anyone may ask without a token, and each check queries the store. */
  trustMs: 1_000,
  /** Milliseconds the store has to respond. */
  patienceMs: 2_000,
};

/** `opening`: the store is not open yet. `stopping`: the gateway is stopping. */
export type Readiness = 'ready' | 'opening' | 'stopping' | 'store_unavailable';

export interface ReadinessOptions {
  /** Resolves when the store is open. */
  readonly opened: Promise<unknown>;
  readonly isStopping: () => boolean;
  /** A small query of the store. */
  readonly ping: () => Promise<unknown>;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
}

/** Whether the gateway accepts work now. Liveness needs no check: any response shows it. */
export function createReadiness({
  opened,
  isStopping,
  ping,
  now,
}: ReadinessOptions): () => Promise<Readiness> {
  let isOpen = false;
  void opened.then(
    () => {
      isOpen = true;
    },
    () => {},
  );
  let asked: { readonly until: number; readonly answer: Promise<Readiness> } | null = null;
  return async () => {
    if (isStopping()) return 'stopping';
    if (!isOpen) return 'opening';
    if (!asked || asked.until < now()) asked = { until: now() + DEFAULTS.trustMs, answer: answers(ping) };
    return await asked.answer;
  };
}

async function answers(ping: () => Promise<unknown>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, DEFAULTS.patienceMs);
  });
  return await Promise.race([ping(), patience])
    .then(
      () => 'ready' as const,
      () => 'store_unavailable' as const,
    )
    .finally(() => clearTimeout(timer));
}
