const DEFAULTS = {
  /** Characters of calls kept at the most; the oldest go first, and can then only be rejected. */
  characters: 64 * 1024 * 1024,
};

/** What is asked about: exactly what will run. */
export interface PendingCall {
  readonly arguments: unknown;
  /** The code or capability, where it is no tool. */
  readonly program?: { readonly code?: string; readonly capability?: string };
}

/** Calls that wait for a person, whole; what is stored of them is redacted. */
export interface PendingCalls {
  keep(approvalId: string, call: PendingCall): void;
  get(approvalId: string): PendingCall | null;
  forget(approvalId: string): void;
}

export function createPendingCalls(characters = DEFAULTS.characters): PendingCalls {
  // As text: what the caller does with its own afterwards changes nothing here.
  const kept = new Map<string, string>();
  let size = 0;
  const forget = (id: string) => {
    size -= kept.get(id)?.length ?? 0;
    kept.delete(id);
  };
  return {
    keep(id, call) {
      const text = JSON.stringify(call);
      kept.set(id, text);
      size += text.length;
      for (const oldest of kept.keys()) {
        if (size <= characters) break;
        forget(oldest);
      }
    },
    get(id) {
      const text = kept.get(id);
      return text === undefined ? null : JSON.parse(text);
    },
    forget,
  };
}
