import { z } from 'zod';
import { STANDING_SCOPES, type StandingApproval } from '../engine/people/standing-approvals.ts';
import { operation } from './operation.ts';

export const standingApproval = z
  .object({
    id: z.string(),
    /** The tool. */
    node: z.string(),
    scope: z.enum(STANDING_SCOPES),
    /** Whose calls are allowed; null: those of PML itself. */
    user: z.string().nullable(),
    session_id: z.string().nullable(),
    /** As stored, for the scope `arguments`. */
    arguments: z.unknown(),
    allowed_by: z.string(),
    allowed_at: z.string(),
  })
  .meta({ id: 'StandingApproval' });

export const listStandingApprovals = operation({
  name: 'list_standing_approvals',
  right: 'decide',
  summary: 'Approvals that hold until revoked, newest first',
  input: z.strictObject({}),
  output: z.object({ approvals: z.array(standingApproval) }),
  http: { method: 'GET', path: '/standing-approvals' },
  async run({ gateway }) {
    return { approvals: (await gateway.people.standing()).map(standingToWire) };
  },
});

export function standingToWire(one: StandingApproval) {
  return {
    id: one.id,
    node: one.node,
    scope: one.scope,
    user: one.user,
    session_id: one.sessionId,
    arguments: one.arguments,
    allowed_by: one.by,
    allowed_at: one.at.toISOString(),
  };
}
