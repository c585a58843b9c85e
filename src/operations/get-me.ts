import { z } from 'zod';
import { may, RIGHTS } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';

/** Lets the dashboard hide actions that its user may not take. */
export const getMe = operation({
  name: 'get_me',
  right: 'read',
  summary: 'The caller and its rights',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    user: z.string(),
    role: z.enum(['agent', 'operator', 'viewer', 'owner']),
    rights: z.array(z.enum(RIGHTS)),
  }),
  http: { method: 'GET', path: '/me' },
  async run(_, __, caller) {
    const who = askerOf(caller);
    const { name, user, role } = who;
    return { name, user, role, rights: RIGHTS.filter((right) => may(who, right)) };
  },
});
