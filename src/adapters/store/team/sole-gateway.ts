import type { ChangeFeed, TrainerLock } from '../../../engine/ports.ts';

/** What a gateway gets whose store no other gateway writes to: no changes from others, and the right to train at once. */
export function soleGateway(): { readonly changes: ChangeFeed; readonly trainerLock: TrainerLock } {
  return {
    changes: { follow: () => () => {} },
    trainerLock: { isHeld: () => true, seek: () => {}, claim: async () => true, onChange: () => () => {} },
  };
}
