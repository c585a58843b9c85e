import type { ChangeFeed, TrainerSeat } from '../../../engine/ports.ts';

/** What a gateway gets whose store no other gateway writes to: no changes from others, and the right to train at once. */
export function soleGateway(): { readonly changes: ChangeFeed; readonly seat: TrainerSeat } {
  return {
    changes: { follow: () => () => {} },
    seat: { isHeld: () => true, seek: () => {}, claim: async () => true, onChange: () => () => {} },
  };
}
