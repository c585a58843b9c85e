import { z } from 'zod';
import { may, RIGHTS } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { keyScope, scopeToWire } from './shapes/key.ts';

/** Lets the dashboard hide actions that its user may not take. */
export const getMe = operation({
  name: 'get_me',
  right: 'read',
  scoped: true,
  summary: 'The caller and its rights',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    user: z.string(),
    role: z.enum(['agent', 'operator', 'viewer', 'owner']),
    rights: z.array(z.enum(RIGHTS)),
    /** Absent: everything that the role allows. */
    scope: keyScope.optional(),
  }),
  http: { method: 'GET', path: '/me' },
  async run(_, __, caller) {
    const who = askerOf(caller);
    const { name, user, role, scope } = who;
    const rights = RIGHTS.filter((right) => may(who, right));
    return { name, user, role, rights, ...(scope && { scope: scopeToWire(scope) }) };
  },
});
