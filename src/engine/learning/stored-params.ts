import type { FlowPorts } from '../flow-ports.ts';
import type { RankerParams } from '../ports.ts';

/** What learning gave, newest first. */
export interface StoredParams {
  newest(count: number): Promise<readonly RankerParams[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: RankerParams['metrics']): Promise<string>;
  drop(params: RankerParams): Promise<void>;
}

export type KeepingPorts = Pick<FlowPorts, 'store' | 'crypto' | 'clock'>;

/** Under the name that `RankerParams.model` speaks of; of more than `most`, the oldest go. */
export function storedParams(
  { store, crypto, clock }: KeepingPorts,
  model: string,
  most: number,
): StoredParams {
  const newest = (count: number) => store.rankerParams.list(model, count);
  return {
    newest,
    async keep(bytes, metrics) {
      const id = crypto.randomUuid();
      await store.rankerParams.save({ id, model, bytes, metrics, createdAt: clock.now() });
      const all = await newest(most * 2);
      for (const old of all.slice(most)) await store.rankerParams.remove(old.id);
      return id;
    },
    async drop({ id }) {
      await store.rankerParams.remove(id);
    },
  };
}
