const DEFAULTS = {
  /** How long an answer is cached, in milliseconds: anyone may ask without a token, and each answer queries the store. */
  trustMs: 1_000,
  /** How long the store may take to say anything. */
  patienceMs: 2_000,
};

/** `opening`: the store is not open yet. `stopping`: the gateway ends. */
export type Readiness = 'ready' | 'opening' | 'stopping' | 'store_unavailable';

export interface ReadinessOptions {
  /** Resolves when the store is open. */
  readonly opened: Promise<unknown>;
  readonly isStopping: () => boolean;
  /** Asks the store something small. */
  readonly ping: () => Promise<unknown>;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
}

/** Whether work is taken now; beside that, a process that answers at all is alive. */
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
