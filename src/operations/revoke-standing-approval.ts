import { z } from 'zod';
import { standingApproval, standingToWire } from './list-standing-approvals.ts';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';

export const revokeStandingApproval = operation({
  name: 'revoke_standing_approval',
  right: 'decide',
  summary: 'Revokes a standing approval: such calls need approval again',
  input: z.strictObject({ id: z.string() }),
  output: standingApproval,
  http: { method: 'POST', path: '/standing-approvals/:id/revoke' },
  async run({ gateway }, { id }, caller) {
    return standingToWire(await gateway.people.revokeStanding(id, deciderOf(caller)));
  },
});
